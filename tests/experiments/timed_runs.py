"""Finished runs with a chosen speed; their files are written without training."""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from tests.machines import LAPTOP
from tests.widgets.folders import write_epoch, write_run
from workbench.config import RunConfig
from workbench.experiments import Group
from workbench.plan import make_plan
from workbench.runs import Run

ONE = RunConfig(strategy="one_device", global_batch_size=64, steps_per_epoch=100, epochs=2)
TWO = RunConfig(strategy="mirrored", global_batch_size=64, steps_per_epoch=100, epochs=2)
APART = replace(ONE, strategy="parameter_server", global_batch_size=None, per_replica_batch_size=32)
CALLS, STEPS_PER_CALL = 20, 10


def timed_run(
    root: Path,
    config: RunConfig,
    examples_per_second: float,
    state: str = "finished",
    loss: float = 1.0,
    test_accuracies: tuple[float, float] = (0.7, 0.9),
    peak_mib: int | None = 100,
) -> Run:
    """Return a run of two epochs of 100 steps, in calls of ten; the first call took much longer."""
    root.mkdir(exist_ok=True)
    run = write_run(root, state, steps=0, config=config)
    plan = make_plan(config, LAPTOP)
    seconds = np.full(CALLS, STEPS_PER_CALL * plan.examples_per_step / examples_per_second)
    seconds[0] += 5.0
    starts = 1000.0 + np.append(0.0, np.cumsum(seconds)[:-1])
    first = np.arange(CALLS) * STEPS_PER_CALL
    calls = np.column_stack([first, np.full(CALLS, STEPS_PER_CALL), starts, seconds])
    log = np.vstack([[0.0, 0.0, starts[0], 0.0], calls])
    (run.dir / "worker-0" / "calls.f8").write_bytes(log.astype("<f8").tobytes())
    kind = "f8" if config.precision == "float64" else "f4"
    rows = np.zeros((CALLS * STEPS_PER_CALL, plan.local_replicas, 3), f"<{kind}")
    rows[:, :, 2] = plan.per_replica_batch_size
    rows[:, :, 1] = plan.per_replica_batch_size / 2
    rows[:, :, 0] = plan.per_replica_batch_size * loss
    (run.dir / "worker-0" / f"steps.{kind}").write_bytes(rows.tobytes())
    for epoch, accuracy in enumerate(test_accuracies, 1):
        write_epoch(run.dir, epoch, 100 * epoch, test_accuracy=accuracy, loss=loss)
    if peak_mib is not None:
        event = {"time": time.time(), "event": "peak_memory", "bytes": {"worker-0": peak_mib << 20}}
        with (run.dir / "events.jsonl").open("a") as file:
            file.write(json.dumps(event) + "\n")
    return run


def with_second_worker(run: Run, loss: float) -> Run:
    """Return the run with a second worker: the same calls, and this loss in each step."""
    worker = run.dir / "worker-1"
    shutil.copytree(run.dir / "worker-0", worker)
    steps = worker / "steps.f4"
    rows = np.fromfile(steps, "<f4").reshape(-1, 3)
    rows[:, 0] = rows[:, 2] * loss
    steps.write_bytes(rows.tobytes())
    return run


def group(root: Path, label: str, config: RunConfig, *rates: float) -> Group:
    """Return a group with one run for each rate, one round for each run."""
    runs = tuple(timed_run(root, config, rate) for rate in rates)
    return Group(label, runs, rounds=tuple(range(len(rates))))
