"""A writer of records like those of a task."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt


class TaskWriter:
    """The writer of the segments of one task; each number shows its step and replica."""

    def __init__(self, task_dir: Path, replicas: int = 2) -> None:
        self.dir = task_dir
        self.replicas = replicas
        task_dir.mkdir(parents=True, exist_ok=True)

    def rows(self, first: int, count: int, marker: float = 0.0) -> npt.NDArray[np.float32]:
        """Return rows of 4 examples, 1 correct; the loss is step + marker + replica / 10."""
        step = np.arange(first, first + count, dtype=np.float32)[:, None]
        loss = step + marker + np.arange(self.replicas, dtype=np.float32) / 10
        return np.stack([4 * loss, np.ones_like(loss), np.full_like(loss, 4)], axis=2)

    def call(
        self,
        number: int,
        opened_at: int,
        first: int,
        count: int,
        start: float,
        marker: float = 0.0,
        seconds: float = 0.5,
    ) -> None:
        """Append a call to a segment that was opened at a step."""
        self.add_steps(number, opened_at, self.rows(first, count, marker))
        self.add_calls(number, opened_at, [first, count, start, seconds])

    def add_steps(self, number: int, opened_at: int, rows: npt.NDArray[np.float32]) -> None:
        self._append(f"{number:04d}-{opened_at:012d}.steps", rows.astype("<f4").tobytes())

    def add_steps64(self, number: int, opened_at: int, rows: npt.NDArray[np.float64]) -> None:
        self._append(f"{number:04d}-{opened_at:012d}.steps64", rows.astype("<f8").tobytes())

    def add_calls(self, number: int, opened_at: int, call: list[float]) -> None:
        data = np.array(call, "<f8").tobytes()
        self._append(f"{number:04d}-{opened_at:012d}.calls", data)

    def _append(self, name: str, data: bytes) -> None:
        with (self.dir / name).open("ab") as file:
            file.write(data)
