"""The times of steps that a run recorded itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.interval import Interval
from workbench.runs import Run, RunError
from workbench.runs.records.arrays import Shape, TaskRecords, read_tasks
from workbench.verdict.estimates import FEWEST, median_of

AGREES = 1.25
"""Times of a step agree if they differ by less than this factor."""


@dataclass(frozen=True)
class Recorded:
    """The calls that a run recorded; None is unknown."""

    steps_per_call: int
    step: Interval | None
    """Seconds of a step within a call, of the slowest worker; None with fewer than six calls."""
    examples_per_second: float | None = None
    """The run's speed in the steady state, as it is shown everywhere; see `speed`."""

    def agrees(self, measured_seconds: float) -> bool | None:
        """Return whether a measured time of a step is near the recorded one."""
        if self.step is None:
            return None
        low, high = self.step.low / AGREES, self.step.high * AGREES
        return low <= measured_seconds <= high


def read_recorded(run: Run) -> Recorded:
    """Read the calls of a run's workers.

    The first call of an attempt is left out, because it includes the tracing; it counts only if a
    worker has no other call. Calls with less than half of the median number of steps are left out
    too, because an epoch's end cut them short.

    Raises:
        RunError: the run has recorded no call.
    """
    tasks = [task for task in read_tasks(run.dir, Shape.of(run.plan)) if len(task.calls)]
    if not tasks:
        raise RunError(
            f"{run.id} has recorded no steps{' yet' if run.alive else ''}, so there is nothing to "
            "measure against. Let it train for a moment first."
        )
    usual = [_usual_calls(task) for task in tasks]
    steps = int(np.median(usual[0][:, 1]))
    times = [calls[:, 3] / calls[:, 1] for calls in usual]
    known = [median_of(each) for each in times if len(each) >= FEWEST]
    slowest = max(known, key=lambda each: each.value, default=None)
    return Recorded(steps, slowest, run.totals.examples_per_second)


def _usual_calls(task: TaskRecords) -> Any:
    later = task.calls[~task.opening]
    calls = later if len(later) else task.calls
    return calls[calls[:, 1] >= np.median(calls[:, 1]) / 2]


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
