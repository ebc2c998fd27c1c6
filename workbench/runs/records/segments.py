"""Segments: files in which a task records its steps and calls; read, never memory-mapped."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.runs.folder.clocks import TaskClock

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MOST_STEPS = 2**53
"""More steps than any run takes: a float64 counts exactly up to this number."""
MOST_LONGER = 1000
"""A script that was edited by hand can train longer than planned, but by less than this factor."""
VALUES = 3
CALL_VALUES = 4
CALL_BYTES = 8 * CALL_VALUES
_NAME = re.compile(r"(\d{4,})-(\d{12,})\.steps(?:64)?")


@dataclass(frozen=True)
class Segment:
    """One stretch of a task's records, from `first_step` (0-based) on.

    From its first step on, it replaces all rows of segments with smaller numbers.
    """

    number: int
    first_step: int
    path: Path

    @cached_property
    def calls_path(self) -> Path:
        return self.path.with_suffix(".calls")

    @property
    def kind(self) -> str:
        """The type of its numbers: single precision, or double if the run computed in double."""
        return "<f8" if self.path.suffix == ".steps64" else "<f4"

    def rows(self, replicas: int) -> int:
        """Return the number of complete rows on disk, without reading them; 0 without a file."""
        try:
            number_bytes = np.dtype(self.kind).itemsize
            return self.path.stat().st_size // (number_bytes * VALUES * replicas)
        except FileNotFoundError:
            return 0

    def values(self, replicas: int, start: int = 0, count: int = -1) -> Floats:
        """Read rows from `start` on, [rows, replicas, 3]: loss sum, correct, examples."""
        row = VALUES * replicas
        return _read(self.path, self.kind, row, start, count).reshape(-1, replicas, VALUES)

    def calls_written(self) -> int:
        """Return the number of complete calls on disk, without reading them; 0 without a file."""
        try:
            return self.calls_path.stat().st_size // CALL_BYTES
        except FileNotFoundError:
            return 0

    def calls(self, start: int = 0) -> Doubles:
        """Read calls from `start` on: float64 [calls, 4], first step, steps, start, seconds.

        A row that cannot be a call, as in a damaged file, is NaN.
        """
        found = _read(self.calls_path, "<f8", CALL_VALUES, start, -1).reshape(-1, CALL_VALUES)
        first, steps, _, seconds = found.T
        with np.errstate(invalid="ignore", over="ignore"):
            sound = (first >= self.first_step) & (first + steps <= MOST_STEPS) & (seconds >= 0)
            sound &= (first == np.floor(first)) & (steps >= 1) & np.isfinite(found).all(axis=1)
        return found if sound.all() else np.where(sound[:, None], found, np.nan)


def known(calls: Doubles) -> Doubles:
    """Return the valid calls, without the NaN rows of a damaged file."""
    return calls[~np.isnan(calls[:, 0])]


def calls_of(segments: Sequence[Segment], clock: TaskClock) -> list[Doubles]:
    """Return the valid calls of each segment, with their starts on the supervisor's clock.

    `clock` is that of the task that timed the calls. A task opens a segment for each attempt.
    """
    calls = [known(segment.calls()) for segment in segments]
    if clock.agrees:
        return calls
    opened = [at for at, rows in enumerate(calls) if len(rows)]
    ahead = clock.ahead_seconds((float(calls[at][0, 2]), True) for at in opened)
    for at, seconds in zip(opened, ahead, strict=True):
        calls[at] = calls[at] - np.array([0.0, 0.0, seconds, 0.0])
    return calls


def list_segments(task_dir: Path, total_steps: int = MOST_STEPS) -> list[Segment]:
    """Return a task's segments by number; an empty list if there is no folder.

    A segment that begins far beyond the steps of its run is not part of the records. It is left
    out.
    """
    segments = []
    try:
        for path in task_dir.iterdir():
            named = _NAME.fullmatch(path.name)
            if named and int(named[2]) <= max(1, total_steps) * MOST_LONGER:
                segments.append(Segment(int(named[1]), int(named[2]), path))
    except FileNotFoundError:
        return []
    return sorted(segments, key=lambda segment: segment.number)


def kept_rows(segments: list[Segment], replicas: int) -> list[tuple[Segment, int]]:
    """Return the segments with the number of rows of each that no later segment replaces."""
    kept = []
    cut: float = np.inf
    for segment in reversed(segments):
        rows = int(min(segment.rows(replicas), max(0, cut - segment.first_step)))
        cut = min(cut, segment.first_step)
        if rows:
            kept.append((segment, rows))
    return kept[::-1]


def _read(path: Path, kind: str, row: int, start: int, count: int) -> npt.NDArray[Any]:
    """Return complete rows of a file, read with as few system calls as possible."""
    row_bytes = row * np.dtype(kind).itemsize
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return np.empty(0, kind)
    try:
        rows = count if count >= 0 else os.fstat(descriptor).st_size // row_bytes - start
        content = _read_bytes(descriptor, start * row_bytes, max(0, rows) * row_bytes)
    finally:
        os.close(descriptor)
    return np.frombuffer(content, kind, len(content) // row_bytes * row)


def _read_bytes(descriptor: int, offset: int, size: int) -> bytes:
    """Return `size` bytes, fewer at the end of the file; a single read gives at most 2 GiB."""
    content = os.pread(descriptor, size, offset)
    parts = [content]
    while content and (size := size - len(content)):
        offset += len(content)
        content = os.pread(descriptor, size, offset)
        parts.append(content)
    return parts[0] if len(parts) == 1 else b"".join(parts)
