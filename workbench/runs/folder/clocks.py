"""The clocks of a run's hosts: times of a task become times of its supervisor's clock."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from .events import Event, read_events

DIFFERS = "clock_differs"
"""The event in which a supervisor names a task of the attempt whose host's clock differs."""
CLOCK_SECONDS = 2.0
"""The largest difference of a host's clock that is not recorded."""
BEGINS = "imported"
"""The first event of each process of a task."""


def attempt_begins(events: Sequence[Event]) -> list[int]:
    """Return where each attempt that has started begins in its supervisor's events.

    That is its place in the queue: the tasks of a job can begin before their supervisor sees it. A
    job that outlived its supervisor and is followed by another goes on with its attempt.
    """
    found: list[int] = []
    place: int | None = None
    job, before = None, Event()
    for at, event in enumerate(events):
        if event["event"] != "state":
            continue
        if event.get("by_hand"):
            found.append(at)
            place = job = None
        elif event.get("state") == "queued" and before.get("state") != "queued":
            place = at
        elif event.get("state") == "starting":
            queued = {} if place is None else events[place]
            # Only a new supervisor notes its process there; an engine can restart its job, too.
            followed = job is not None and job == event.get("job") and "supervisor_pid" in queued
            if not (followed or _goes_on(before, event)):
                found.append(at if place is None else place)
            place, job = None, event.get("job")
        before = event
    return found


def _goes_on(before: Event, starting: Event) -> bool:
    """Return whether an attempt already started with the state before."""
    prepared = before.get("loading") or before.get("rehearsal")
    met = "job" in before and "tf_configs" in starting and "tf_configs" not in before
    return before.get("state") == "starting" and bool(prepared or met)


class TaskClock:
    """A task's clock, compared with its supervisor's in each attempt at the run.

    The difference of an attempt is the one that the supervisor recorded. An attempt of a job can
    run on other hosts than the one before, so each has its own difference.
    """

    def __init__(self, task: str, events: Sequence[Event]) -> None:
        """`events` are the supervisor's events."""
        begins = attempt_begins(events)
        self._begins = [_time(events[at]) for at in begins]
        self.ahead = [0.0 for _ in begins]
        """The seconds by which it is ahead in each attempt; 0 if no difference is recorded."""
        for number, (begin, end) in enumerate(pairwise([*begins, len(events)])):
            for event in events[begin:end]:
                if event["event"] == DIFFERS and event.get("task") == task:
                    self.ahead[number] = float(event.get("ahead_seconds") or 0.0)

    @property
    def agrees(self) -> bool:
        """Whether no difference from the supervisor's clock is recorded."""
        return not any(self.ahead)

    def ahead_seconds(self, moments: Iterable[tuple[float, bool]]) -> list[float]:
        """Return how far the task's clock was ahead of the supervisor's at each moment.

        `moments` are in the order in which the task wrote them, each with its time on the task's
        clock, and whether a process began with it. The difference is 0 if the moment fits into no
        attempt: then the clock has been set since, and how far it is ahead is unknown.
        """
        found, attempt = [], -1
        for moment, begins in moments:
            fitting = self._fitting(moment, max(attempt, 0))
            if begins:  # each attempt has its own process
                fitting = [each for each in fitting if each > attempt] or fitting
            attempt = fitting[0] if fitting else attempt
            found.append(self.ahead[attempt] if fitting else 0.0)
        return found

    def _fitting(self, moment: float, first: int) -> list[int]:
        """Return the attempts, from `first` on, in which the task's clock could show this time."""
        spans = list(pairwise([*self._begins, math.inf]))
        return [
            at
            for at, (begin, end) in enumerate(spans)
            if at >= first and begin <= moment - self.ahead[at] < end
        ]


def task_events(folder: Path, task: str, events: Sequence[Event]) -> list[Event]:
    """Return a task's events, with their times on the clock of the supervisor.

    An event whose time was moved has the number of seconds as `ahead_seconds`.

    Args:
        folder: the folder of the run or of its rehearsal.
        task: one of its tasks.
        events: the events of the run's supervisors.

    Raises:
        RunError: the events cannot be read.
    """
    found, clock = read_events(folder / task / "events.jsonl"), TaskClock(task, events)
    if clock.agrees:
        return found
    moments = [(_time(event), event["event"] == BEGINS) for event in found]
    return [
        {**event, "time": _time(event) - ahead, "ahead_seconds": ahead} if ahead else event
        for event, ahead in zip(found, clock.ahead_seconds(moments), strict=True)
    ]


def own_time(event: Event) -> float:
    """Return the time of an event of `task_events` on the clock of its own task."""
    return _time(event) + float(event.get("ahead_seconds") or 0.0)


def _time(event: Event) -> float:
    return float(event.get("time") or 0.0)
