"""Compare weights and optimizer of two runs at the newest step for which both have a checkpoint.

`compare_checkpoints.py RUN_DIR RUN_DIR` prints JSON: the step, the count of compared numbers, and
their largest absolute difference.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

PROGRESS = "progress/.ATTRIBUTES/VARIABLE_VALUE"
STEP = "step/.ATTRIBUTES/VARIABLE_VALUE"


def checkpoints(run_dir: Path) -> dict[int, Any]:
    """Return the readers of the checkpoints of a run, by the step at which each was saved."""
    kept = tf.train.get_checkpoint_state(str(run_dir / "checkpoints")).all_model_checkpoint_paths
    readers = map(tf.train.load_checkpoint, kept)
    return {steps_of(reader): reader for reader in readers}


def steps_of(reader: Any) -> int:
    """Return the steps done in a checkpoint."""
    if reader.has_tensor(STEP):
        return int(reader.get_tensor(STEP))
    return int(reader.get_tensor(PROGRESS)[0])


def state(reader: Any) -> dict[str, np.ndarray[Any, Any]]:
    """Return the state for resuming by name; TensorFlow files weights under their optimizer."""
    names = [name for name in reader.get_variable_to_shape_map() if name.startswith("optimizer/")]
    return {name: reader.get_tensor(name) for name in names}


def main() -> None:
    one, other = (checkpoints(Path(folder)) for folder in sys.argv[1:])
    step = max(one.keys() & other.keys())
    found, expected = state(one[step]), state(other[step])
    if found.keys() != expected.keys():
        sys.exit(f"Needs the same variables; got {sorted(found)} and {sorted(expected)}.")
    differences = [np.abs(found[name] - expected[name]) for name in found]
    result = {
        "step": step,
        "numbers": sum(each.size for each in differences),
        "largest_difference": float(max(each.max() for each in differences)),
    }
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
