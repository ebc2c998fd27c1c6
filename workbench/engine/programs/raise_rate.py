"""Trains with a rising learning rate: `raise_rate SCRIPT LOWEST HIGHEST STEPS`.

Runs in the run's interpreter. The script's own `main` runs from the start. Its recorder sets the
rate before each step; the rate grows by the same factor each time. After each step the recorder
prints a line of JSON: the rate, the sum of the losses over the replicas of this process, and the
number of examples. The sum is null if it is not finite. Each of several workers has such a process,
with its TF_CONFIG.
"""

import math
import os
import pathlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from .asker import reply
from .script import import_script


def raising_recorder(recorder: type, rates: np.ndarray) -> type:
    """Return a script's recorder changed to train one step at each rate, and then to end."""

    class Raising(recorder):  # type: ignore[misc]
        def train(self, steps: Callable, data: Any, count: int) -> None:
            for rate in rates.tolist():
                set_rate(self.model.optimizer, rate)
                rows = steps(data, tf.constant(1)).numpy()
                loss_sum, _, examples = rows.sum(axis=(0, 1), dtype=float).tolist()
                known = loss_sum if math.isfinite(loss_sum) else None
                reply({"rate": rate, "loss_sum": known, "examples": examples})
            self.summed(np.zeros(1))  # waits, as the first end may stop the others' coordination
            os._exit(0)  # does not wait until TensorFlow has closed the pipeline

    return Raising


def set_rate(optimizer: Any, rate: float) -> None:
    """Set the learning rate of the next steps."""
    try:
        optimizer.learning_rate = rate
    except (TypeError, AttributeError) as error:
        raise SystemExit(
            "Needs an optimizer whose learning rate can be set; got "
            f"{type(optimizer).__name__}: {error} Give it a number as learning rate."
        ) from error


def main(path: pathlib.Path, lowest: float, highest: float, steps: int) -> None:
    """Train one step at each rate."""
    script = import_script(path)
    rates = np.geomspace(lowest, highest, steps)
    script.Recorder = raising_recorder(script.Recorder, rates)
    sys.argv = ["train.py"]
    script.main()


if __name__ == "__main__":
    path, lowest, highest, steps = sys.argv[1:]
    main(pathlib.Path(path), float(lowest), float(highest), int(steps))
