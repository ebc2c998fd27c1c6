import gzip
import pathlib
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import DATA_DIR


def read_file(name: str, header_bytes: int) -> np.ndarray:
    """Return the bytes of a file in DATA_DIR, after its header."""
    with gzip.open(pathlib.Path(DATA_DIR, f"{name}-ubyte.gz").expanduser()) as file:
        return np.frombuffer(file.read(), np.uint8, offset=header_bytes)


def make_data() -> tuple[tuple, ...]:
    """Return (images, labels), 60,000 to train on and 10,000 to test on, scaled to [0, 1]."""
    parts = []
    for part in "train", "t10k":
        images = read_file(f"{part}-images-idx3", header_bytes=16)
        with tf.device("CPU"):  # not in a GPU's memory
            images = tf.reshape(images, [-1, 28, 28, 1]) / 255
        parts.append((images, read_file(f"{part}-labels-idx1", header_bytes=8)))
    return tuple(parts)
