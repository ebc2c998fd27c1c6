from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from ..fashion_mnist_files import read_file


def make_data() -> tuple[tuple[tf.Tensor, np.ndarray], ...]:
    """Return (images, labels), 60,000 to train on and 10,000 to test on, scaled to [0, 1]."""
    parts = []
    for part in ("train", "t10k"):
        images, labels = read_file(f"{part}-images-idx3")[16:], read_file(f"{part}-labels-idx1")[8:]
        with tf.device("CPU"):  # not in a GPU's memory
            parts.append((tf.reshape(images, [-1, 28, 28, 1]) / 255, labels))
    return tuple(parts)
