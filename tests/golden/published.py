# ---- Reader of the published files. ----
import contextlib
import gzip
import hashlib
import os
import pathlib
import tempfile

import numpy as np
import tensorflow as tf

UNPACKED_DIR = os.environ.get("WORKBENCH_UNPACKED")  # where runs keep what the usual folders have
CHECKSUMS = {  # sha256 of each unpacked file
    "train-images-idx3": "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
    "train-labels-idx1": "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
    "t10k-images-idx3": "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
    "t10k-labels-idx1": "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
}


def read_file(name: str) -> np.ndarray:
    """Return the bytes [size] of a published file: as a run has unpacked it before, or unpacked."""
    if UNPACKED_DIR is None or DATA_DIR is not None:
        return unpack_file(name)
    kept = pathlib.Path(UNPACKED_DIR, name)
    with contextlib.suppress(OSError, ValueError):  # not there, not to be read, or empty
        content = np.memmap(kept, np.uint8, "r").view(np.ndarray)
        if hashlib.sha256(content.data).hexdigest() == CHECKSUMS[name]:
            return content
    content = unpack_file(name)
    with contextlib.suppress(OSError):  # the next run then unpacks it, too
        keep_file(content, kept)
    return content


def unpack_file(name: str) -> np.ndarray:
    """Return a file's bytes [size]: from DATA_DIR, or from the usual folders, or downloaded."""
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
    return np.frombuffer(content, np.uint8)


def keep_file(content: np.ndarray, path: pathlib.Path) -> None:
    """Write a file whole or not at all, whoever else does it meanwhile."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        pathlib.Path(folder, path.name).write_bytes(content.data)
        pathlib.Path(folder, path.name).replace(path)
