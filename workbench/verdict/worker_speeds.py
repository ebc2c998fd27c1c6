"""The time that each worker takes for its own step, in runs whose workers wait for nobody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.interval import Interval
from workbench.runs import Run, RunError
from workbench.runs.records.arrays import Shape, read_tasks

from .estimates import FEWEST, median_of


@dataclass(frozen=True)
class WorkerSpeed:
    """The recorded speed of a worker's own steps, in seconds."""

    task: str
    step: Interval
    """The time of a call, divided by the number of its steps."""
    input: Interval
    """The time from the update of a step to the arrival of the next step's batch."""


def worker_speeds(run: Run) -> list[WorkerSpeed]:
    """Return the speed of each worker of a run whose workers wait for nobody.

    The run did not record the computing of a step separately from the way to the parameter servers
    and back.

    Raises:
        RunError: a worker has recorded too few calls or steps for an interval.
    """
    from workbench.runs.records.staleness import read_updates  # loads pandas

    speeds = []
    for records in read_tasks(run.dir, Shape.of(run.plan)):
        task = f"worker-{records.worker}"
        calls = records.calls[~records.opening]
        updates = read_updates(run.dir / task)
        gaps = updates[1:, 1] - updates[:-1, 2]
        if min(len(calls), len(gaps)) < FEWEST:
            raise RunError(
                f"{task} has recorded {len(calls)} calls after its first, and its speed can only "
                f"be told from {FEWEST}. Let it train longer."
            )
        step = median_of(calls[:, 3] / calls[:, 1])
        speeds.append(WorkerSpeed(task, step, median_of(np.maximum(gaps, 0.0))))
    return speeds


def slowest_of(speeds: Sequence[WorkerSpeed]) -> WorkerSpeed | None:
    """Return the worker whose step takes longest; None if it does not differ from all others."""
    *others, last = sorted(speeds, key=lambda speed: speed.step.value)
    return last if all(last.step.low > speed.step.high for speed in others) and others else None
