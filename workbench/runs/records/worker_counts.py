"""Which workers there were at which step: a resumed run may go on with more or fewer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.runs.folder.events import Event

UNKNOWN = np.iinfo(np.int64).max
WorkerCounts = tuple[tuple[int, int], ...]
"""Of each attempt in order: the step that it began at, and how many workers it had."""


def worker_counts_of(leader_events: Iterable[Event]) -> WorkerCounts:
    """Tell it from the events of the leading task; empty where nothing says so."""
    starts = [event for event in leader_events if event["event"] == "start"]
    return tuple((int(e.get("step", 0)), int(e["workers"])) for e in starts if "workers" in e)


def workers_at(worker_counts: WorkerCounts, steps: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return how many workers each step was last done by; `UNKNOWN`, above all, of those before."""
    counts = np.full(len(steps), UNKNOWN)
    for first, workers in worker_counts:
        counts[steps >= first] = workers
    return counts
