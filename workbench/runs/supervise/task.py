"""One task of a run, as its supervisor holds it: its process, its log, and who watches it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from workbench.runs.folder.logs import log_tail
from workbench.runs.folder.tasks import type_of

from .watchdog import ENTERED, Watchdog

if TYPE_CHECKING:
    from workbench.runs.processes.bounds import Bounds
    from workbench.runs.processes.ending import TaskProcess
    from workbench.runs.processes.hands import Hands

LOG_LINES = 30
ENDS = ("finished", "stopped")
"""The events by which a task says that its work is over."""


class Task:
    """One task: its process, its log, and who watches it."""

    def __init__(
        self, run_dir: Path, name: str, bounds: Bounds, total_steps: int, *, begun: bool
    ) -> None:
        self.name = name
        self.type = type_of(name)
        self.dir = run_dir / name
        self.dir.mkdir(exist_ok=True)
        if not begun:
            (self.dir / ENTERED).unlink(missing_ok=True)  # of an earlier attempt
        self.log = self.dir / "log.txt"
        self.log_start = self.log.stat().st_size if self.log.exists() else 0
        self.bounds = bounds
        self.watchdog = Watchdog(self.dir, bounds, total_steps, begun=begun)
        self.restarts = 0
        self.started = self.over = False
        """Whether it has a process, and whether it was noted that this has ended."""
        self.peak_bytes = 0
        """The most memory that its process was seen to hold."""
        self.process: TaskProcess

    def start(self, hands: Hands) -> None:
        """Have its process started.

        Raises:
            OSError: it cannot be.
        """
        self.process = hands.start(self.name, self.log)
        self.started = True

    def weigh(self) -> None:
        """Note how much memory its process has held."""
        self.peak_bytes = max(self.peak_bytes, self.process.peak_bytes or 0)

    @property
    def exit_status(self) -> int | None:
        """Of a process that has ended; below zero by a signal."""
        return self.process.exit_status

    @property
    def ended_well(self) -> bool:
        """Whether a process that has ended did so after saying that its work is over."""
        return self.process.terminated or (self.exit_status == 0 and self.work_is_over)

    @property
    def work_is_over(self) -> bool:
        """Whether it has said that it finished or stopped."""
        return any(name in ENDS for name in self.event_names)

    def escalate(self, now: float) -> None:
        """End its process where that has had its time to end by itself."""
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
        """Return the end of what it logged in this attempt."""
        return log_tail(self.log, lines, since=self.log_start)
