"""Compares runs with the first run: `certify RUN_DIR RUN_DIR...`.

Runs in the run's interpreter. Prints one line of JSON: versions, environment variables that change
numbers, and two values for each run:

- the hash of the data that the run's own script makes;
- the largest difference of its saved weights from the first run's. It is null if there is no saved
  model, or if the model has other layers.
"""

import hashlib
import os
import pathlib
import platform
import sys
import tempfile
import zipfile

import h5py
import numpy as np
import tensorflow as tf

from .asker import reply
from .script import import_script

CHANGES_NUMBERS = (
    *("TF_ENABLE_ONEDNN_OPTS", "TF_NUM_INTRAOP_THREADS", "OMP_NUM_THREADS"),
    *("TF_DETERMINISTIC_OPS", "NVIDIA_TF32_OVERRIDE"),
)


def data_hash(run_dir: pathlib.Path) -> str:
    """Return the sha256 of all training and test examples with their labels, in order."""
    script = import_script(run_dir / "train.py")
    tf.keras.utils.set_random_seed(script.SEED)  # for data sets that shuffle
    digest = hashlib.sha256()
    for part in script.make_data():
        for batch in part.batch(1024) if isinstance(part, tf.data.Dataset) else [part]:
            for array in map(np.asarray, tf.nest.flatten(batch)):
                digest.update(f"{array.dtype} {array.shape}".encode())
                digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def weights(run_dir: pathlib.Path) -> dict[str, np.ndarray] | None:
    """Return the saved model's variables by their path in it; None if there is no model."""
    path = run_dir / "model.keras"
    if not path.exists():
        return None
    found: dict[str, np.ndarray] = {}
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(path) as archive:
        file = archive.extract("model.weights.h5", folder)
        with h5py.File(file) as content:

            def note(name: str, item: h5py.Group | h5py.Dataset) -> None:
                if isinstance(item, h5py.Dataset) and not name.startswith("optimizer"):
                    found[name] = item[()]

            content.visititems(note)
    return found


def difference(one: dict | None, other: dict | None) -> float | None:
    """Return the largest absolute difference of all weights; None if they cannot be compared."""
    if one is None or other is None or one.keys() != other.keys():
        return None
    return max(float(np.max(np.abs(one[name] - other[name]))) for name in one)


def main(run_dirs: list[pathlib.Path]) -> None:
    """Compare the runs and print the result."""
    reference = weights(run_dirs[0])
    runs = {
        str(run_dir): {
            "data_sha256": data_hash(run_dir),
            "max_weight_difference": difference(reference, weights(run_dir)),
        }
        for run_dir in run_dirs
    }
    versions = {
        "python": platform.python_version(),
        "tensorflow": tf.__version__,
        "numpy": np.__version__,
    }
    environment = {name: os.environ[name] for name in CHANGES_NUMBERS if name in os.environ}
    reply({"versions": versions, "environment": environment, "runs": runs})


if __name__ == "__main__":
    main([pathlib.Path(text) for text in sys.argv[1:]])
