"""The number of workers at each step: a resumed run may continue with more or fewer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.runs.folder.events import Event

Ints = npt.NDArray[np.int64]
UNKNOWN = np.iinfo(np.int64).max
WorkerCounts = tuple[tuple[int, int], ...]
"""For each attempt, in order: its first step, and its number of workers."""


def worker_counts_of(leader_events: Iterable[Event]) -> WorkerCounts:
    """Return the worker counts from the leading task's events; empty if no event names them."""
    starts = [event for event in leader_events if event["event"] == "start"]
    return tuple((int(e.get("step", 0)), int(e["workers"])) for e in starts if "workers" in e)


def workers_at(worker_counts: WorkerCounts, steps: npt.NDArray[Any]) -> Ints:
    """Return the number of workers that did each step the last time.

    It is `UNKNOWN`, more than any number of workers, for steps before the first known attempt.
    """
    counts = np.full(len(steps), UNKNOWN)
    for first, workers in worker_counts:
        counts[steps >= first] = workers
    return counts


def steps_with(worker: int, worker_counts: WorkerCounts, edges: Ints) -> Ints:
    """Return at how many steps of each stretch a worker takes part, int64 [len(edges) - 1].

    `edges` are the first steps of the stretches, and the end of the last one. It agrees with
    `workers_at`, and needs no memory for each step of a long stretch.
    """
    attempts = [(0, UNKNOWN)]
    for first, workers in worker_counts:
        attempts = [*(each for each in attempts if each[0] < first), (first, workers)]
    ends = [*(first for first, _ in attempts[1:]), int(edges[-1])]
    found = np.zeros(len(edges) - 1, np.int64)
    for (first, workers), end in zip(attempts, ends, strict=True):
        if worker < workers:
            inside = np.clip(edges, first, max(first, end))
            found += inside[1:] - inside[:-1]
    return found
