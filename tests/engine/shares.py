"""Write the examples that each worker receives: `shares.py OUT STEPS SCRIPT[@START]...`.

Takes batches from the pipeline of each script and trains nothing. For scripts of several workers,
each worker runs this file in a process of its own. OUT/worker-N/NAME.npy holds an array
[step, example of the worker]: the number of an example is its position in arrays, its first
feature in a data set.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from tests.engine.together import load


def numbers(script: Any) -> dict[bytes, int]:
    """Return the number of each training example by its content."""
    train, _ = script.make_data()
    if isinstance(train, tf.data.Dataset):  # the first feature is the number
        return {row.tobytes(): int(row[0]) for row, _ in train.as_numpy_iterator()}
    features, _ = train
    return {row.tobytes(): number for number, row in enumerate(np.asarray(features))}


def received_examples(script: Any, strategy: Any, start: int, steps: int) -> list[list[int]]:
    """Return the examples that the replicas of this worker receive in each step."""
    by_content = numbers(script)
    tf.keras.utils.set_random_seed(script.SEED)  # as `main` of each script does
    batches = iter(script.make_batches(strategy, start)[0])
    found = []
    for _ in range(steps):
        parts = strategy.experimental_local_results(next(batches))
        rows = np.concatenate([features.numpy() for features, _ in parts])
        found.append([by_content[row.tobytes()] for row in rows])
    return found


def main() -> None:
    out, steps, *paths = sys.argv[1:]
    index = json.loads(os.environ.get("TF_CONFIG") or "{}").get("task", {}).get("index", 0)
    folder = Path(out) / f"worker-{index}"
    folder.mkdir(parents=True)
    strategy = None
    for name in paths:
        path, _, start = name.partition("@")
        script: Any = load(Path(path))
        strategy = strategy or script.make_strategy()
        rows = received_examples(script, strategy, int(start or 0), int(steps))
        np.save(folder / f"{Path(path).parent.name}@{start or 0}.npy", rows)


if __name__ == "__main__":
    main()
