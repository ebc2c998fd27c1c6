import gzip
import hashlib
import pathlib
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import DATA_DIR

FILES = {  # sha256 of each unpacked file
    "train-images": "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
    "train-labels": "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
    "t10k-images": "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
    "t10k-labels": "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
}
ORIGIN = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"


def find_file(name: str) -> pathlib.Path:
    """Return where a file lies: in DATA_DIR, or in the usual folders, or downloaded."""
    usual = ("~/.keras/datasets/fashion-mnist", "/usr/share/datasets/fashion-mnist")
    for folder in [DATA_DIR] if DATA_DIR else usual:
        path = pathlib.Path(folder).expanduser() / name
        if path.exists():
            return path
    try:
        if DATA_DIR:
            raise FileNotFoundError(f"{name} is not in {DATA_DIR}")
        url = ORIGIN + name
        return pathlib.Path(
            tf.keras.utils.get_file(name, url, cache_subdir="datasets/fashion-mnist")
        )
    except Exception as error:
        raise SystemExit(
            f"Needs Fashion-MNIST; {error}. Set DATA_DIR to a folder with {name}."
        ) from error


def read_file(name: str, header_bytes: int) -> np.ndarray:
    """Return a file's bytes after its header, once they are known to be the published ones."""
    path = find_file(f"{name}-idx{header_bytes // 4 - 1}-ubyte.gz")
    try:
        content = gzip.decompress(path.read_bytes())
    except (OSError, EOFError) as error:
        raise SystemExit(f"Needs whole files; {path} is not: {error}. Replace it.") from error
    if hashlib.sha256(content).hexdigest() != FILES[name]:
        raise SystemExit(f"Needs the published Fashion-MNIST; {path} differs. Replace it.")
    return np.frombuffer(content, np.uint8, offset=header_bytes)


def load_arrays() -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """Return (images, labels) to train on, 60,000 of 28 x 28 bytes, and to test on, 10,000."""
    train, test = (
        (read_file(f"{part}-images", 16).reshape(-1, 28, 28), read_file(f"{part}-labels", 8))
        for part in ("train", "t10k")
    )
    return train, test


def prepare(images: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Scale a batch of images to [0, 1] and add the channel."""
    return tf.cast(images, tf.float32)[..., None] / 255.0, labels
