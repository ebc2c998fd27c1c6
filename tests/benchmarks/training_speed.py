"""The custom loop against the tutorial's: Mirrored on two virtual CPU replicas.

`python -m tests.benchmarks.training_speed [--quick] [--only mlp|cnn]` runs both jobs in turn with
the tutorial's loop, ours on the usual pipeline, and ours on stacked batches, all recorded to disk.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.alternation import Segment, alternate
from tests.benchmarks.engine import Engine, cnn, mlp, train_custom
from tests.benchmarks.report import Comparison, conclude, tell
from tests.benchmarks.tutorial import Tutorial, cnn_job, mlp_job

REACH = {("mlp", "usual"): 5.0, ("mlp", "stacked"): 9.0, ("cnn", "usual"): 1.3}
SEGMENT_STEPS = {"mlp": 600, "cnn": 100}
TUTORIAL_STEPS = {"mlp": 150, "cnn": 100}
ROUNDS = {"mlp": 31, "cnn": 21}
QUICK_ROUNDS = 5


def compare(job: str, rounds: int, folder: Path) -> list[Comparison]:
    """Train the three sides of a job in turn; return ours over the tutorial's."""
    make: Callable[..., Any] = mlp if job == "mlp" else cnn
    usual = Engine(make(), folder / "usual")
    stacked = Engine(make(pipeline="indexed"), folder / "stacked", usual.strategy)
    tutorial_job = mlp_job(per_replica_batch_size=32) if job == "mlp" else cnn_job()
    tutorial = Tutorial(usual.strategy, tutorial_job)
    steps = TUTORIAL_STEPS[job]
    sides: dict[str, Segment] = {
        "tutorial": lambda: steps / tutorial.train_steps(steps),
        "usual": _segment(usual, SEGMENT_STEPS[job]),
        "stacked": _segment(stacked, SEGMENT_STEPS[job]),
    }
    done = alternate(sides, rounds)
    rates = {name: f"{np.median(rate):.0f}" for name, rate in done.rates.items()}
    tell(f"{job}: median steps/s {rates}; {done.quiet} of {done.run} rounds quiet")
    return [
        Comparison(
            f"{job}, {side} pipeline, over the tutorial's loop",
            done.rates[side] / done.rates["tutorial"],
            at_least=REACH.get((job, side)),
        )
        for side in ("usual", "stacked")
    ]


def _segment(engine: Engine, steps: int) -> Segment:
    iterator = iter(engine.train_data)
    epochs = max(1, round(steps / engine.script.STEPS_PER_EPOCH))
    count = min(steps, engine.script.STEPS_PER_EPOCH)
    return lambda: epochs * count / train_custom(engine, iterator, epochs, count)


def main() -> int:
    """Measure and print; the exit status is 1 where something was missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only", choices=["mlp", "cnn"], help="one of the two jobs")
    options.add_argument("--quick", action="store_true", help="few rounds, to try the benchmark")
    chosen = options.parse_args()
    comparisons = []
    for job in [chosen.only] if chosen.only else ["mlp", "cnn"]:
        rounds = QUICK_ROUNDS if chosen.quick else ROUNDS[job]
        with tempfile.TemporaryDirectory() as folder:
            comparisons += compare(job, rounds, Path(folder))
    return conclude(comparisons)


if __name__ == "__main__":
    sys.exit(main())
