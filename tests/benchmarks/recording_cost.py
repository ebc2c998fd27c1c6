"""The cost of recording: the MLP, Mirrored on two virtual CPU replicas, both loops.

`python -m tests.benchmarks.recording_cost [--quick]` runs blocks of the same graph calls in one
process. The sides alternate: a recorder that writes to a run folder, a recorder that does not
write, and graph functions without results of a step, so that nothing can be recorded.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from tests.benchmarks.alternation import Segment, alternate
from tests.benchmarks.engine import Engine, mlp, recorder
from tests.benchmarks.report import Comparison, conclude, print_line

SEGMENT_STEPS = 1500
ROUNDS = 61
QUICK_ROUNDS = 5
STEPS_PER_CALL = 250


def compare(loop: str, rounds: int, folder: Path) -> list[Comparison]:
    """Run the blocks of one loop in turn; return the ratios of their step rates."""
    engine = Engine(mlp(loop=loop), folder)
    without = recorder(engine.script, engine.strategy, engine.model, None)
    iterator = iter(engine.train_data)
    keep_nothing = forgetful(engine.strategy, engine.steps[0])

    def recorded_by(chosen: Any) -> Segment:
        return lambda: _rate(lambda: chosen.train(engine.train_steps, iterator, SEGMENT_STEPS))

    def nothing_kept() -> None:
        for _ in range(SEGMENT_STEPS // STEPS_PER_CALL):
            keep_nothing(iterator, tf.constant(STEPS_PER_CALL)).numpy()

    done = alternate(
        {
            "recorded": recorded_by(engine.recorder),
            "not recorded": recorded_by(without),
            "nothing kept": lambda: _rate(nothing_kept),
        },
        rounds,
    )
    rates = {name: f"{np.median(rate):.0f}" for name, rate in done.rates.items()}
    print_line(f"{loop}: median steps/s {rates}; {done.quiet} of {done.run} rounds quiet")
    recorded = done.rates["recorded"]
    return [
        Comparison(
            f"{loop}, recorded over not recorded",
            recorded / done.rates["not recorded"],
            at_least=0.99,
            lower_bound_at_least=0.98,
        ),
        Comparison(
            f"{loop}, recorded over a loop without results of a step",
            recorded / done.rates["nothing kept"],
        ),
    ]


def forgetful(strategy: tf.distribute.Strategy, step: Callable[..., Any]) -> Callable[..., Any]:
    """Return a graph function that runs many steps and returns no results of them."""

    @tf.function
    def run(iterator: Any, count: tf.Tensor) -> tf.Tensor:
        for _ in tf.range(count):
            strategy.run(step, args=(next(iterator),))
        return count

    return run  # type: ignore[no-any-return]


def _rate(block: Callable[[], object]) -> float:
    began = time.perf_counter()
    block()
    return SEGMENT_STEPS / (time.perf_counter() - began)


def main() -> int:
    """Measure and print; the exit status is 1 if a limit is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="few rounds, to try the benchmark")
    rounds = QUICK_ROUNDS if options.parse_args().quick else ROUNDS
    comparisons = []
    for loop in ("custom", "fit"):
        with tempfile.TemporaryDirectory() as folder:
            comparisons += compare(loop, rounds, Path(folder))
    return conclude(comparisons)


if __name__ == "__main__":
    sys.exit(main())
