"""The records that a run made of its own steps, for comparison with later measurements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.interval import Interval
from workbench.runs import Run, RunError
from workbench.runs.records.arrays import Shape, TaskRecords, read_tasks

from .estimates import FEWEST, median_of

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
