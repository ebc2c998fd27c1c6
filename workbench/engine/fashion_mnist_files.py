import contextlib
import gzip
import hashlib
import os
import pathlib
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from .constants import DATA_DIR

PUBLISHED_DIR = os.environ.get("WORKBENCH_UNPACKED")  # a folder for unpacked files, if set
CHECKSUMS = {  # sha256 of each unpacked file
    "train-images-idx3": "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
    "train-labels-idx1": "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
    "t10k-images-idx3": "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
    "t10k-labels-idx1": "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
}


def read_file(name: str) -> np.ndarray:
    """Return a published file's bytes [size], from PUBLISHED_DIR if possible, else unpacked."""
    if not PUBLISHED_DIR or DATA_DIR is not None:
        return unpack_published(name)
    kept = pathlib.Path(PUBLISHED_DIR, name)
    with contextlib.suppress(OSError):  # it is missing or unreadable
        content = np.fromfile(kept, np.uint8)
        if hashlib.sha256(content.data).hexdigest() == CHECKSUMS[name]:
            return content
    content = unpack_published(name)
    keep_published(content, kept)
    return content


def unpack_published(name: str) -> np.ndarray:
    """Return a file's bytes [size] from DATA_DIR, if set, else the usual folders or a download."""
    usual = "~/.keras/datasets/fashion-mnist", "/usr/share/datasets/fashion-mnist"
    folders = usual if DATA_DIR is None else [DATA_DIR]
    paths = [pathlib.Path(folder).expanduser() / f"{name}-ubyte.gz" for folder in folders]
    path = next((path for path in paths if path.exists()), paths[0])
    if DATA_DIR is None and not path.exists():
        path = download_published(path.name)
    try:
        content = gzip.decompress(path.read_bytes())
    except Exception as error:
        raise SystemExit(f"Needs {path}; {error}. Replace it.") from error
    if hashlib.sha256(content).hexdigest() != CHECKSUMS[name]:
        raise SystemExit(f"Needs the published {path}; this one differs. Replace it.")
    return np.frombuffer(content, np.uint8)


def download_published(name: str) -> pathlib.Path:
    """Return the path of a packed file in Keras' cache, downloaded if it is not there."""
    url = f"https://storage.googleapis.com/tensorflow/tf-keras-datasets/{name}"
    try:
        cached = tf.keras.utils.get_file(name, url, cache_subdir="datasets/fashion-mnist")
    except Exception as error:
        raise SystemExit(
            f"Needs {name}; the download fails: {error}. Connect this machine to the internet "
            "(Kaggle has a switch for it in its settings), or copy the four files from another "
            "machine to ~/.keras/datasets/fashion-mnist."
        ) from error
    return pathlib.Path(cached)


def keep_published(content: np.ndarray, path: pathlib.Path) -> None:
    """Write a whole file or none; without the file the next run unpacks again."""
    part = path.with_suffix(".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(content.data)
        part.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            part.unlink()
