"""Trains with a learning rate that rises: `raise_rate SCRIPT LOWEST HIGHEST STEPS`.

Runs in the run's interpreter. The script's own `main` runs from the start, with a recorder that
sets the rate before each step, the same factor further each time, and tells of the step in a line
of JSON: the sum of its losses over the replicas of this process, null where that is not finite, and
its examples. Of several workers each has such a process, by its TF_CONFIG.
"""

import math
import pathlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from .asker import reply
from .script import import_script


def raising_recorder(recorder: type, rates: np.ndarray) -> type:
    """Return a script's recorder made to train a step at each rate, and to end after the last."""

    class Raising(recorder):  # type: ignore[misc]
        def train(self, steps: Callable, data: Any, count: int) -> None:
            for rate in rates.tolist():
                set_rate(self.model.optimizer, rate)
                rows = steps(data, tf.constant(1)).numpy()
                loss_sum, _, examples = rows.sum(axis=(0, 1), dtype=float).tolist()
                known = loss_sum if math.isfinite(loss_sum) else None
                reply({"rate": rate, "loss_sum": known, "examples": examples})
            self.summed(np.zeros(1))  # who ends first may take the others' coordination along
            raise SystemExit(0)

    return Raising


def set_rate(optimizer: Any, rate: float) -> None:
    """Have the steps from now on take this learning rate."""
    try:
        optimizer.learning_rate = rate
    except (TypeError, AttributeError) as error:
        raise SystemExit(
            "Needs an optimizer whose learning rate can be set; received "
            f"{type(optimizer).__name__}, of which: {error} Give it a number as learning rate."
        ) from error


def main(path: pathlib.Path, lowest: float, highest: float, steps: int) -> None:
    """Train at every rate."""
    script = import_script(path)
    rates = np.geomspace(lowest, highest, steps)
    script.Recorder = raising_recorder(script.Recorder, rates)
    sys.argv = ["train.py"]
    script.main()


if __name__ == "__main__":
    path, lowest, highest, steps = sys.argv[1:]
    main(pathlib.Path(path), float(lowest), float(highest), int(steps))
