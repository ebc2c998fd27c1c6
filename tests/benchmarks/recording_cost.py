"""The cost of recording: a script alone and under the observer, Mirrored on two CPU replicas.

`python -m tests.benchmarks.recording_cost [--quick] [--only NAME]` runs blocks of the same steps,
those of a case in one process. The sides alternate: the script's own training with an observer that
writes a run folder, and without an observer.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.alternation import Segment, alternate
from tests.benchmarks.engine import Engine, mlp, rate_of
from tests.benchmarks.report import Comparison, conclude, print_line

LONG = {"per_replica_batch_size": 4096, "synthetic_examples": 100 * 2 * 4096}
ROUNDS = 61
QUICK_ROUNDS = 5


@dataclass(frozen=True)
class Case:
    """A training, the steps of a block of it, and the share of speed that recording must leave."""

    config: dict[str, Any]
    steps: int
    at_least: float


CASES = {
    "custom": Case({**LONG, "loop": "custom"}, 500, 0.99),
    "fit": Case({**LONG, "loop": "fit"}, 500, 0.99),
    "short": Case({"loop": "custom"}, 1500, 0.95),
    "stacked": Case({"pipeline": "indexed"}, 3000, 0.95),
    "eager": Case({"eager": True}, 40, 0.97),
}
"""The cases; a step takes 1 ms or more, except in `short` and `stacked`, 0.2 to 0.4 ms."""


def compare(name: str, rounds: int, folder: Path) -> Comparison:
    """Run the blocks of a case in turn; return the ratios of the step rates."""
    case = CASES[name]
    engine = Engine(mlp(**case.config), folder)

    def alone() -> float:
        with engine.unwatched():
            return rate_of(engine.alone, case.steps)

    recorded: Segment = lambda: rate_of(engine.observed, case.steps)  # noqa: E731
    done = alternate({"recorded": recorded, "alone": alone}, rounds)
    rates = {side: f"{np.median(rate):.0f}" for side, rate in done.rates.items()}
    print_line(f"{name}: median steps/s {rates}; {done.quiet} of {done.run} rounds quiet")
    return Comparison(
        f"{name}, recorded over the script alone",
        done.rates["recorded"] / done.rates["alone"],
        at_least=case.at_least,
        lower_bound_at_least=case.at_least - 0.01,
    )


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
    with tempfile.TemporaryDirectory() as folder:
        rounds = QUICK_ROUNDS if chosen.quick else ROUNDS
        return conclude([compare(chosen.only, rounds, Path(folder))])


if __name__ == "__main__":
    sys.exit(main())
