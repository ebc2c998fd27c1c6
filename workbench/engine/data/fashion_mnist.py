import gzip
import hashlib
import pathlib
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import DATA_DIR

CHECKSUMS = {  # sha256 of each unpacked file
    "train-images-idx3": "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
    "train-labels-idx1": "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
    "t10k-images-idx3": "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
    "t10k-labels-idx1": "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
}


def read_file(name: str) -> bytes:
    """Return a file's content: from DATA_DIR, or from the usual folders, or downloaded."""
    usual = "~/.keras/datasets/fashion-mnist", "/usr/share/datasets/fashion-mnist"
    folders = usual if DATA_DIR is None else [DATA_DIR]
    paths = [pathlib.Path(folder).expanduser() / f"{name}-ubyte.gz" for folder in folders]
    path = next((path for path in paths if path.exists()), paths[0])
    try:
        if DATA_DIR is None and not path.exists():
            url = f"https://storage.googleapis.com/tensorflow/tf-keras-datasets/{path.name}"
            path = tf.keras.utils.get_file(path.name, url, cache_subdir="datasets/fashion-mnist")
        content = gzip.decompress(pathlib.Path(path).read_bytes())
    except Exception as error:
        raise SystemExit(
            f"Needs {path}: {error}. Mend it, or set DATA_DIR to its folder."
        ) from error
    if hashlib.sha256(content).hexdigest() != CHECKSUMS[name]:
        raise SystemExit(f"Needs the published {path}; this one differs. Replace it.")
    return content


def make_data() -> tuple[tuple[tf.Tensor, np.ndarray], ...]:
    """Return (images, labels), 60,000 to train on and 10,000 to test on, scaled to [0, 1]."""
    parts = []
    for part in ("train", "t10k"):
        images = np.frombuffer(read_file(f"{part}-images-idx3"), np.uint8, offset=16)
        labels = np.frombuffer(read_file(f"{part}-labels-idx1"), np.uint8, offset=8)
        with tf.device("CPU"):  # rather than in a GPU's memory
            parts.append((tf.reshape(images, [-1, 28, 28, 1]) / 255, labels))
    return tuple(parts)
