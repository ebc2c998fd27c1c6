"""Our recorded Keras `fit` against bare `fit`: the MLP, Mirrored on two virtual CPU replicas.

`python -m tests.benchmarks.fit_speed [--quick]` gives all sides the same batches and metrics. Bare
`fit` runs once with our steps_per_execution and once with Keras' default, one step per execution.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from tests.benchmarks.alternation import Segment, alternate
from tests.benchmarks.engine import Engine, make_model, mlp
from tests.benchmarks.report import Comparison, conclude, print_line

STEPS_PER_EXECUTION = 50
SEGMENT_STEPS = 1500
DEFAULT_STEPS = 300
ROUNDS = 31
QUICK_ROUNDS = 5


def compare(rounds: int, folder: Path) -> list[Comparison]:
    """Train the three sides in turn; return the ratios of the recorded side to the bare sides."""
    engine = Engine(mlp(loop="fit"), folder)
    record(engine)
    bare = bare_model(engine, STEPS_PER_EXECUTION)
    default = bare_model(engine, 1)
    done = alternate(
        {
            "recorded": _segment(engine.model, engine.train_data, SEGMENT_STEPS),
            "bare": _segment(bare, engine.train_data, SEGMENT_STEPS),
            "default": _segment(default, engine.train_data, DEFAULT_STEPS),
        },
        rounds,
    )
    rates = {name: f"{np.median(rate):.0f}" for name, rate in done.rates.items()}
    print_line(f"median steps/s {rates}; {done.quiet} of {done.run} rounds quiet")
    recorded = done.rates["recorded"]
    return [
        Comparison(
            f"recorded fit over bare fit, both {STEPS_PER_EXECUTION} steps per execution",
            recorded / done.rates["bare"],
            at_least=0.97,
        ),
        Comparison(
            "recorded fit over fit with Keras' default",
            recorded / done.rates["default"],
            at_least=2.0,
        ),
    ]


def record(engine: Engine) -> None:
    """Return a segment that trains the engine's model as the script's `main` does."""
    recorder, steps = engine.recorder, engine.train_steps
    engine.model.train_function = lambda iterator: recorder.train(
        steps, iterator, STEPS_PER_EXECUTION
    )
    engine.model.steps_per_execution = STEPS_PER_EXECUTION
    engine.model._maybe_symbolic_build = lambda **_: None


def bare_model(engine: Engine, steps_per_execution: int) -> Any:
    """Return the same model with Keras' own training function and with the same metric."""
    with engine.strategy.scope():
        metric = tf.keras.metrics.BinaryAccuracy(name="accuracy")
        return make_model(engine.script, metrics=[metric], steps_per_execution=steps_per_execution)


def _segment(model: Any, batches: Any, steps: int) -> Segment:
    def run() -> float:
        began = time.perf_counter()
        model.fit(batches, steps_per_epoch=steps, epochs=1, shuffle=False, verbose=0)
        return steps / (time.perf_counter() - began)

    return run


def main() -> int:
    """Measure and print; the exit status is 1 if a limit is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="few rounds, to try the benchmark")
    rounds = QUICK_ROUNDS if options.parse_args().quick else ROUNDS
    with tempfile.TemporaryDirectory() as folder:
        return conclude(compare(rounds, Path(folder)))


if __name__ == "__main__":
    sys.exit(main())
