"""Runs of 8 replicas that grow like real ones: `python -m tests.benchmarks.growing RUN ...`.

It holds the runs' locks, so that they are active, and appends a call of ten steps to each run ten
times a second, until its standard input is closed.
"""

from __future__ import annotations

import argparse
import select
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tests.widgets.folders import write_run
from workbench.config import RunConfig
from workbench.runs import Run
from workbench.runs.folder import locks
from workbench.runs.folder.state import run_lock

REPLICAS = 8
BATCH = 16
STEPS_PER_CALL = 10
CALLS_PER_SECOND = 10.0
CONFIG = RunConfig(replicas=REPLICAS, per_replica_batch_size=BATCH, steps_per_epoch=10_000_000)


def make_run(root: Path, steps: int, state: str = "running") -> Run:
    """Write a run of 8 replicas with `steps` steps; its loss falls with noise."""
    run = write_run(root, state, steps=0, config=CONFIG)
    append(run, 0, steps)
    return run


def append(run: Run, first_step: int, steps: int) -> None:
    """Record steps in calls of ten, the first of them at the start of the run."""
    folder = run.dir / "worker-0"
    starts = np.arange(first_step, first_step + steps, STEPS_PER_CALL, dtype=np.float64)
    counts = np.minimum(STEPS_PER_CALL, first_step + steps - starts)
    (start,) = (event["time"] for event in run.events() if event["event"] == "start")
    began = start + starts / STEPS_PER_CALL / CALLS_PER_SECOND
    with (folder / "calls.f8").open("ab") as file:
        file.write(np.column_stack([starts, counts, began, 0.1 + 0 * starts]).tobytes())
    with (folder / "steps.f4").open("ab") as file:
        for rows in records(first_step, steps):
            file.write(rows.tobytes())


def records(first_step: int, steps: int, chunk: int = 50_000) -> Iterator[np.ndarray]:
    """Yield records [steps, 8, 3] in pieces."""
    random = np.random.default_rng(first_step)
    for first in range(first_step, first_step + steps, chunk):
        count = min(chunk, first_step + steps - first)
        rows = np.full((count, REPLICAS, 3), BATCH, np.float32)
        share = (np.arange(first, first + count) / (first_step + steps + 1))[:, None]
        loss = np.exp(-3 * share) + 0.1 * random.random((count, REPLICAS))
        rows[:, :, 0] = BATCH * loss
        rows[:, :, 1] = np.round(BATCH * np.clip(1 - loss / 2, 0, 1))
        yield rows


def main() -> None:
    """Let the named runs grow."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    runs = [Run(path) for path in options.parse_args().runs]
    held = [locks.take(run_lock(run.dir)) for run in runs]
    assert None not in held
    steps = [run.progress.step for run in runs]
    due = time.monotonic()
    while not select.select([sys.stdin], [], [], max(0.0, due - time.monotonic()))[0]:
        due += 1 / CALLS_PER_SECOND
        for at, run in enumerate(runs):
            append(run, steps[at], STEPS_PER_CALL)
            steps[at] += STEPS_PER_CALL


if __name__ == "__main__":
    main()
