"""Our recorded Keras `fit` against bare `fit`: the MLP, Mirrored on two virtual CPU replicas.

`python -m tests.benchmarks.fit_speed [--quick]` gives all sides the same batches and metrics. Bare
`fit` runs once with our steps_per_execution and once with Keras' default, one step per execution.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

from tests.benchmarks.alternation import Segment, alternate
from tests.benchmarks.engine import Engine, Train, mlp, rate_of
from tests.benchmarks.report import Comparison, conclude, print_line

SEGMENT_STEPS = 1560
DEFAULT_STEPS = 300
ROUNDS = 31
QUICK_ROUNDS = 5


def compare(rounds: int, folder: Path) -> list[Comparison]:
    """Train the three sides in turn; return the ratios of the recorded side to the bare sides."""
    engine = Engine(mlp(loop="fit"), folder)
    with engine.unwatched():
        default = engine.fit(steps_per_execution=1)
        default(1)  # traced before anything is watched

    def bare(train: Train, steps: int) -> Segment:
        def run() -> float:
            with engine.unwatched():
                return rate_of(train, steps)

        return run

    done = alternate(
        {
            "recorded": lambda: rate_of(engine.observed, SEGMENT_STEPS),
            "bare": bare(engine.alone, SEGMENT_STEPS),
            "default": bare(default, DEFAULT_STEPS),
        },
        rounds,
    )
    rates = {name: f"{np.median(rate):.0f}" for name, rate in done.rates.items()}
    print_line(f"median steps/s {rates}; {done.quiet} of {done.run} rounds quiet")
    recorded, together = done.rates["recorded"], engine.script.STEPS_PER_EXECUTION
    return [
        Comparison(
            f"recorded fit over bare fit, both {together} steps per execution",
            recorded / done.rates["bare"],
            at_least=0.97,
        ),
        Comparison(
            "recorded fit over fit with Keras' default",
            recorded / done.rates["default"],
            at_least=2.0,
        ),
    ]


def main() -> int:
    """Measure and print; the exit status is 1 if a limit is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="few rounds, to try the benchmark")
    rounds = QUICK_ROUNDS if options.parse_args().quick else ROUNDS
    with tempfile.TemporaryDirectory() as folder:
        return conclude(compare(rounds, Path(folder)))


if __name__ == "__main__":
    sys.exit(main())
