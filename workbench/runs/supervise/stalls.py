"""Search for the task that holds up the others when tasks fall silent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.runs.processes.bounds import Bounds

    from .task import Task


class CommonSilence:
    """The silence of synchronous tasks: all fall silent when one does.

    The cause is the task that is behind.
    """

    def __init__(self, tasks: Sequence[Task], bounds: Bounds) -> None:
        self._tasks, self._bounds = tasks, bounds
        self._entered_at: float | None = None
        self._known: Task | None = None

    def blame(self, now: float) -> Task | None:
        """Return the task that is behind, if tasks are silent or one misses the first step."""
        self._known = self._behind(now)
        return self._known

    @property
    def seconds(self) -> float:
        """The time in seconds for which the named task has been silent."""
        return self._known.watchdog.silent_seconds if self._known else 0.0

    def _behind(self, now: float) -> Task | None:
        steps = [task.watchdog.entered_step() for task in self._tasks]
        silent = [task for task in self._tasks if task.watchdog.silent]
        if not silent and not self._first_step_waits(steps, now):
            return None
        if held := [task for task in self._tasks if task.process.suspended]:
            return held[0]
        known = self._known or (silent or self._tasks)[0]
        if steps[self._tasks.index(known)] == min(steps):
            return known
        return self._tasks[steps.index(min(steps))]

    def _first_step_waits(self, steps: Sequence[int], now: float) -> bool:
        """Return whether some tasks have waited too long for others to enter the first step."""
        if not min(steps) < 0 <= max(steps):
            self._entered_at = None
            return False
        if self._entered_at is None:
            self._entered_at = now
        return now - self._entered_at >= self._bounds.rendezvous_seconds


class LedSilence:
    """The silence of workers that get their work from a chief.

    The cause is the worker that keeps its work while others have gone on. If all workers have been
    silent for about the same time, the cause is unknown, and their leader is named. A worker can
    be named even in its first call.
    """

    def __init__(self, leader: Task, workers: Sequence[Task], bounds: Bounds) -> None:
        self._leader, self._workers, self._bounds = leader, workers, bounds
        self._known: Task | None = None

    def blame(self, now: float) -> Task | None:
        """Return the task to name; None if all go on."""
        if self._known is not None:
            if self.seconds > 0.0:
                return self._known
            for task in self._workers:  # they had no work, and now have work again
                task.watchdog.begin(now)
        silent = [task for task in self._workers if task.watchdog.silent]
        self._known = self._longest_silent() if silent else None
        return self._known

    @property
    def seconds(self) -> float:
        """The silence of the named task in seconds; for the leader, the time all were silent."""
        named = self._workers if self._known is self._leader else [self._known]
        return min(task.watchdog.silent_seconds for task in named if task is not None)

    def _longest_silent(self) -> Task | None:
        """Return the worker with the longest silence, or the leader if all are equally silent.

        Return None if that worker may be silent for longer.
        """
        for task in self._workers:
            if task.watchdog.silent and task.process.suspended:
                return task
        seconds = [task.watchdog.silent_seconds for task in self._workers]
        longest_limit = max(task.watchdog.limit_seconds for task in self._workers)
        about_a_call = longest_limit / self._bounds.stall_factor
        if len(seconds) > 1 and max(seconds) - min(seconds) <= about_a_call:
            return self._leader
        longest = self._workers[seconds.index(max(seconds))]
        return longest if longest.watchdog.silent or not longest.watchdog.recorded else None
