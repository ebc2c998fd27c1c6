"""The cost of recording: a script alone and under the observer, on two CPU replicas or workers.

`python -m tests.benchmarks.recording_cost [--quick] [--only NAME]` runs blocks of the same steps,
those of a case in one process. The sides alternate: the script's own training with an observer that
writes a run folder, and without an observer. Of each side there are two trainings, made in the
order alone, recorded, recorded, alone, because what a process makes later can be slower.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from tests.benchmarks.alternation import Segment, alternate
from tests.benchmarks.engine import Engine, Train, mlp, rate_of
from tests.benchmarks.report import Comparison, conclude, print_line
from workbench import RunConfig

LONG: dict[str, Any] = {"per_replica_batch_size": 4096, "synthetic_examples": 100 * 2 * 4096}
PAIRS = ("recorded", "alone"), ("recorded again", "alone again")
ROUNDS = 61
QUICK_ROUNDS = 5


@dataclass(frozen=True)
class Case:
    """A training, the steps of a block of it, and the share of speed that recording must leave."""

    config: RunConfig
    steps: int
    at_least: float
    scalars: int = 0
    """The numbers that each step gives to metrics, beside loss and accuracy."""


CASES = {
    "custom": Case(mlp(**LONG), 250, 0.99),
    "fit": Case(mlp(**LONG, loop="fit"), 250, 0.99),
    "short": Case(mlp(), 750, 0.95),
    "stacked": Case(mlp(pipeline="indexed"), 1500, 0.95),
    "eager": Case(mlp(eager=True), 20, 0.97),
    "scheduled": Case(RunConfig(strategy="parameter_server", synthetic_examples=64_000), 400, 0.95),
    "3_numbers": Case(mlp(**LONG), 250, 0.99, scalars=3),
    "10_numbers": Case(mlp(**LONG), 250, 0.98, scalars=10),
    "gradient_norm": Case(mlp(**LONG, gradient_norms=True), 250, 0.99),
}
"""The cases; a step takes 1 ms or more, except in `short` and `stacked`, 0.2 to 0.4 ms.

A coordinator's two workers, in `scheduled`, share the CPU and take about 1 ms for each step.
"""


def compare(name: str, rounds: int, folder: Path) -> NoReturn:
    """Run the blocks of a case in turn, judge the ratios of the step rates, and exit.

    It ends the process at once, because TensorFlow can take minutes to close pipelines.
    """
    case = CASES[name]
    engine = Engine(case.config, folder, case.scalars)
    recorded_again = engine.make()
    with engine.unwatched():
        alone_again = engine.make()
        alone_again(1)  # traced before it is watched

    def alone(train: Train) -> float:
        with engine.unwatched():
            return rate_of(train, case.steps)

    sides: dict[str, Segment] = {
        "recorded": lambda: rate_of(engine.observed, case.steps),
        "alone": lambda: alone(engine.alone),
        "recorded again": lambda: rate_of(recorded_again, case.steps),
        "alone again": lambda: alone(alone_again),
    }
    done = alternate(sides, rounds)
    rates = {side: f"{np.median(rate):.0f}" for side, rate in done.rates.items()}
    print_line(f"{name}: median steps/s {rates}; {done.quiet} of {done.run} rounds quiet")
    pairs = (done.rates[side] / done.rates[other] for side, other in PAIRS)
    found = Comparison(
        f"{name}, recorded over the script alone",
        np.sqrt(np.prod(list(pairs), axis=0)),
        at_least=case.at_least,
        lower_bound_at_least=case.at_least - 0.01,
    )
    status = conclude([found])
    shutil.rmtree(folder)
    sys.stdout.flush()
    os._exit(status)


def main() -> int:
    """Measure and print; the exit status is 1 if a limit is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="few rounds, to try the benchmark")
    options.add_argument("--only", choices=CASES, help="one case")
    chosen = options.parse_args()
    if not chosen.only:  # each case in a process of its own, which nothing else has watched
        command = [sys.executable, "-m", "tests.benchmarks.recording_cost", *sys.argv[1:]]
        cases = [[*command, "--only", name] for name in CASES]
        return max(subprocess.run(case, check=False).returncode for case in cases)
    rounds = QUICK_ROUNDS if chosen.quick else ROUNDS
    compare(chosen.only, rounds, Path(tempfile.mkdtemp()))


if __name__ == "__main__":
    sys.exit(main())
