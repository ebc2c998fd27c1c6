"""One task of a run in its supervisor: the task's process, log and watchdog."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from workbench.runs.folder.logs import log_tail
from workbench.runs.folder.tasks import type_of

from .watchdog import ENTERED, Watchdog

if TYPE_CHECKING:
    from workbench.runs.processes.bounds import Bounds
    from workbench.runs.processes.ending import TaskProcess
    from workbench.runs.processes.task_starter import TaskStarter

LOG_LINES = 30
ENDS = ("finished", "stopped")
"""The events with which a task reports that its work is over."""


class Task:
    """One task: its process, its log and its watchdog."""

    def __init__(
        self, run_dir: Path, name: str, bounds: Bounds, total_steps: int, *, begun: bool
    ) -> None:
        self.name = name
        self.type = type_of(name)
        self.dir = run_dir / name
        self.dir.mkdir(exist_ok=True)
        if not begun:
            (self.dir / ENTERED).unlink(missing_ok=True)  # left by an earlier attempt
        self.log = self.dir / "log.txt"
        self.log_start = self.log.stat().st_size if self.log.exists() else 0
        self.bounds = bounds
        self.watchdog = Watchdog(self.dir, bounds, total_steps, begun=begun)
        self.restarts = 0
        self.started = self.over = False
        """Whether the task has a process, and whether the end of that process was noted."""
        self.peak_bytes = 0
        """The peak memory of its process, in bytes, as far as it was seen."""
        self.process: TaskProcess

    def start(self, starter: TaskStarter) -> None:
        """Start the task's process.

        Raises:
            OSError: the process cannot be started.
        """
        self.process = starter.start(self.name, self.log)
        self.started = True

    def weigh(self) -> None:
        """Update the peak memory of the task's process."""
        self.peak_bytes = max(self.peak_bytes, self.process.peak_bytes or 0)

    @property
    def exit_status(self) -> int | None:
        """The exit status of a process that has ended; below zero if a signal ended it."""
        return self.process.exit_status

    @property
    def ended_well(self) -> bool:
        """Whether the ended process had reported the end of its work, or was ended on purpose."""
        return self.process.terminated or (self.exit_status == 0 and self.work_is_over)

    @property
    def work_is_over(self) -> bool:
        """Whether the task has reported that it finished or stopped."""
        return any(name in ENDS for name in self.event_names)

    def escalate(self, now: float) -> None:
        """End the task's process if its time to end by itself is over."""
        self.process.escalate(
            now,
            self.bounds,
            work_is_over=self.work_is_over,
            is_saving=self.watchdog.is_saving,
        )

    @property
    def event_names(self) -> list[str]:
        """The names of its events."""
        return [event["event"] for event in self.watchdog.events]

    def log_end(self, lines: int = LOG_LINES) -> str:
        """Return the end of the task's log of this attempt."""
        return log_tail(self.log, lines, since=self.log_start)
