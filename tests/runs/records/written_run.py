"""Runs whose files a test writes, with times that the test chooses."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tests.runs.records.recording import TaskWriter
from workbench.runs import Run
from workbench.runs.folder import locks, state

NOW = 1_700_000_000.0


class WrittenRun:
    """A run whose files a test writes; `alive` holds its lock like a process.

    The clock of the task's host is `ahead_seconds` ahead of the supervisor's and of the disk's.
    """

    def __init__(self, run: Run, task: str = "worker-0", replicas: int = 2) -> None:
        self.run = run
        self.task = TaskWriter(run.dir / task, replicas)
        self.ahead_seconds = 0.0
        self.lock = -1

    def alive(self) -> None:
        self.lock = locks.take(state.run_lock(self.run.dir)) or -1

    def dead(self) -> None:
        if self.lock >= 0:
            os.close(self.lock)
        self.lock = -1

    def event(self, name: str, at: float = 0.0, **values: Any) -> None:
        self._append(self.task.dir / "events.jsonl", name, at + self.ahead_seconds, values)

    def state(self, name: str, at: float = 0.0, **values: Any) -> None:
        self._append(self.run.dir / "events.jsonl", "state", at, {"state": name, **values})

    def silence(self, name: str, at: float, **values: Any) -> None:
        self._append(self.run.dir / "events.jsonl", name, at, {"task": "worker-0", **values})

    def begin(self, attempt: int, begun_at: int, at: float) -> None:
        self.task.begin(attempt, begun_at, NOW + at + self.ahead_seconds)

    def call(
        self, attempt: int, begun_at: int, first: int, count: int, at: float, seconds: float = 0.5
    ) -> None:
        start = NOW + at + self.ahead_seconds
        self.task.call(attempt, begun_at, first, count, start, seconds=seconds)

    def _append(self, path: Path, name: str, at: float, values: dict[str, Any]) -> None:
        with path.open("a") as file:
            file.write(json.dumps({"time": NOW + at, "event": name, **values}) + "\n")
