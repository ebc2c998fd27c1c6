"""Segments: the files in which a task records its steps and calls. Read plainly, never mapped."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

VALUES = 3
CALL_VALUES = 4
_NAME = re.compile(r"(\d{4,})-(\d{12,})\.steps")


@dataclass(frozen=True)
class Segment:
    """One stretch of records of a task, from `first_step` (0-based) on.

    It replaces all rows of segments with smaller numbers from its first step on.
    """

    number: int
    first_step: int
    path: Path

    @property
    def calls_path(self) -> Path:
        return self.path.with_suffix(".calls")

    def rows(self, replicas: int) -> int:
        """Return the number of whole rows on disk, without reading them; 0 if it vanished."""
        try:
            return self.path.stat().st_size // (4 * VALUES * replicas)
        except FileNotFoundError:
            return 0

    def values(self, replicas: int, start: int = 0, count: int = -1) -> Floats:
        """Read rows from `start` on: float32 [rows, replicas, 3], loss sum, correct, examples."""
        row = VALUES * replicas
        return _read(self.path, "<f4", row, start, count).reshape(-1, replicas, VALUES)

    def calls(self, start: int = 0) -> Doubles:
        """Read calls from `start` on: float64 [calls, 4], first step, steps, start, seconds."""
        return _read(self.calls_path, "<f8", CALL_VALUES, start, -1).reshape(-1, CALL_VALUES)


def list_segments(task_dir: Path) -> list[Segment]:
    """Return a task's segments by number; none where there is no folder."""
    segments = []
    try:
        for path in task_dir.iterdir():
            if named := _NAME.fullmatch(path.name):
                segments.append(Segment(int(named[1]), int(named[2]), path))
    except FileNotFoundError:
        return []
    return sorted(segments, key=lambda segment: segment.number)


def kept_rows(segments: list[Segment], replicas: int) -> list[tuple[Segment, int]]:
    """Return the segments with the rows of each that no later segment replaces."""
    kept = []
    cut: float = np.inf
    for segment in reversed(segments):
        rows = int(min(segment.rows(replicas), max(0, cut - segment.first_step)))
        cut = min(cut, segment.first_step)
        if rows:
            kept.append((segment, rows))
    return kept[::-1]


def _read(path: Path, kind: str, row: int, start: int, count: int) -> npt.NDArray[Any]:
    wanted = -1 if count < 0 else count * row
    try:
        flat = np.fromfile(path, kind, wanted, offset=start * row * np.dtype(kind).itemsize)
    except FileNotFoundError:
        flat = np.empty(0, kind)
    return flat[: len(flat) // row * row]
