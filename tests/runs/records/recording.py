"""A writer of records like those of a task."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


class TaskWriter:
    """The writer of a task's records, attempt by attempt; each number shows its step and replica.

    A new number of an attempt begins it at the step `begun_at`.
    """

    def __init__(self, task_dir: Path, replicas: int = 2) -> None:
        self.dir = task_dir
        self.replicas = replicas
        self._attempt = -1
        self._next = 0
        task_dir.mkdir(parents=True, exist_ok=True)

    def rows(self, first: int, count: int, marker: float = 0.0) -> npt.NDArray[np.float32]:
        """Return rows of 4 examples, 1 correct; the loss is step + marker + replica / 10."""
        step = np.arange(first, first + count, dtype=np.float32)[:, None]
        loss = step + marker + np.arange(self.replicas, dtype=np.float32) / 10
        return np.stack([4 * loss, np.ones_like(loss), np.full_like(loss, 4)], axis=2)

    def call(
        self,
        attempt: int,
        begun_at: int,
        first: int,
        count: int,
        start: float,
        marker: float = 0.0,
        seconds: float = 0.5,
    ) -> None:
        """Record a call of an attempt."""
        self.begin(attempt, begun_at, start)
        self._next = first
        self.add_steps(attempt, begun_at, self.rows(first, count, marker))
        if count:
            self.add_calls(attempt, begun_at, [first, count, start, seconds])

    def begin(self, attempt: int, begun_at: int, start: float = 0.0) -> None:
        """Begin an attempt, if its number is new."""
        if attempt > self._attempt:
            self._attempt, self._next = attempt, begun_at
            self._log([begun_at, 0, start, 0])

    def add_steps(self, attempt: int, begun_at: int, rows: npt.NDArray[Any]) -> None:
        """Write rows after the last ones of an attempt, without a call."""
        self.begin(attempt, begun_at)
        path = self.dir / f"steps.f{rows.itemsize}"
        with path.open("r+b" if path.exists() else "wb") as file:
            file.seek(self._next * rows[:1].nbytes)
            file.truncate()
            file.write(rows.astype(rows.dtype.newbyteorder("<")).tobytes())
        self._next += len(rows)

    def add_calls(self, attempt: int, begun_at: int, call: list[float]) -> None:
        """Log a call of an attempt."""
        self.begin(attempt, begun_at, call[2])
        self._log(call)

    def _log(self, row: list[float]) -> None:
        with (self.dir / "calls.f8").open("ab") as file:
            file.write(np.array(row, "<f8").tobytes())
