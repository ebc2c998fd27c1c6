"""The number of workers at each step: a resumed run may continue with more or fewer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.runs.folder.events import Event

UNKNOWN = np.iinfo(np.int64).max
WorkerCounts = tuple[tuple[int, int], ...]
"""For each attempt, in order: its first step, and its number of workers."""


def worker_counts_of(leader_events: Iterable[Event]) -> WorkerCounts:
    """Return the worker counts from the leading task's events; empty if no event names them."""
    starts = [event for event in leader_events if event["event"] == "start"]
    return tuple((int(e.get("step", 0)), int(e["workers"])) for e in starts if "workers" in e)


def workers_at(worker_counts: WorkerCounts, steps: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return the number of workers that did each step the last time.

    It is `UNKNOWN`, more than any number of workers, for steps before the first known attempt.
    """
    counts = np.full(len(steps), UNKNOWN)
    for first, workers in worker_counts:
        counts[steps >= first] = workers
    return counts
