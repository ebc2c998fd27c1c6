"""Trains with a rising learning rate: `raise_rate SCRIPT LOWEST HIGHEST STEPS`.

Runs in the run's interpreter. The script's own parts train from the first step. The rate is set
before each step and grows by the same factor each time. After each step the program prints a line
of JSON: the rate, the sum of the losses over the replicas of this process, and the number of
examples. The sum is null if it is not finite. Each of several workers has such a process, with its
TF_CONFIG.
"""

import math
import os
import pathlib
import sys
from typing import Any

import numpy as np
import tensorflow as tf

from . import xray
from .asker import reply
from .script import import_script


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
    strategy = script.make_strategy()
    model = xray.make_model(script, strategy)
    data = iter(script.make_batches(strategy, 0)[0])
    train_steps, _ = script.make_loops(strategy, *script.make_steps(model))
    for rate in np.geomspace(lowest, highest, steps).tolist():
        set_rate(model.optimizer, rate)
        rows = train_steps(data, tf.constant(1)).numpy()
        loss_sum, _, examples = rows.sum(axis=(0, 1), dtype=float).tolist()
        known = loss_sum if math.isfinite(loss_sum) else None
        reply({"rate": rate, "loss_sum": known, "examples": examples})
    xray.meet(strategy, 0)  # waits, as the first end may stop the others' coordination
    os._exit(0)  # does not wait until TensorFlow has closed the pipeline


if __name__ == "__main__":
    path, lowest, highest, steps = sys.argv[1:]
    main(pathlib.Path(path), float(lowest), float(highest), int(steps))
