"""The files in which a worker records its steps and calls; read, never memory-mapped.

`steps.f4`, or `steps.f8` of a run that computes in float64, is the array [steps, replicas, 3]: loss
sum, correct answers (NaN: unknown) and examples of each replica. Row n is the worker's step n.
`scalar-NAME.f4`, or `.f8`, is the array [steps, replicas] of another number that steps reported: as
a step returned it, or the mean of what it gave to a metric. It is NaN, or at the end absent, if it
is unknown.

`calls.f8` is a log, float64 [rows, 4]: first step, number of steps, start in seconds since 1970,
and seconds. A call is added once the rows of its steps are written: other steps do not count. An
attempt at the run begins with a row without steps. Each row replaces all that was recorded from its
first step on, because a resumed run does steps again.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt

from workbench.runs.folder.clocks import TaskClock

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

MOST_STEPS = 2**53
"""More steps than any run takes: a float64 counts exactly up to this number."""
VALUES, CALL_VALUES = 3, 4
CALLS, SCALAR = "calls.f8", "scalar-"


class StepFiles(Protocol):
    """The records of one worker, as they are on disk now."""

    @property
    def replicas(self) -> int:
        """The replicas of the worker."""

    def calls_written(self) -> int:
        """Return the number of complete rows of the log; 0 without a file."""

    def rows_written(self) -> int:
        """Return the number of complete rows of the steps; 0 without a file."""

    def log(self, start: int = 0) -> Doubles:
        """Read the log from row `start` on: [rows, 4]. A row of a damaged file is NaN."""

    def rows(self, first: int, count: int) -> Floats:
        """Read the steps from `first` on: [count, replicas, 3]; fewer if the file ends."""

    def scalars(self) -> dict[str, Path]:
        """Return the files of the other numbers that steps reported, by name."""


@dataclass(frozen=True)
class StepArrays:
    """The records of one worker, as this release writes them."""

    folder: Path
    replicas: int
    most_steps: int

    def calls_written(self) -> int:
        return rows_in(self.folder / CALLS, 8 * CALL_VALUES)

    def rows_written(self) -> int:
        path, kind = self._steps
        return rows_in(path, np.dtype(kind).itemsize * VALUES * self.replicas)

    def log(self, start: int = 0) -> Doubles:
        found = read_rows(self.folder / CALLS, "<f8", CALL_VALUES, start)
        return sound(found.reshape(-1, CALL_VALUES), self.most_steps)

    def rows(self, first: int, count: int) -> Floats:
        found = read_rows(*self._steps, VALUES * self.replicas, first, count)
        return found.reshape(-1, self.replicas, VALUES)

    def scalars(self) -> dict[str, Path]:
        ending = self._steps[0].suffix
        found = sorted(self.folder.glob(f"{SCALAR}*{ending}"))
        return {unquote(path.stem.removeprefix(SCALAR)): path for path in found}

    @property
    def _steps(self) -> tuple[Path, str]:
        double = self.folder / "steps.f8"
        return (double, "<f8") if double.exists() else (self.folder / "steps.f4", "<f4")


def sound(log: Doubles, most_steps: int) -> Doubles:
    """Return a log in which each row that cannot be a call is NaN."""
    first, steps, _, seconds = log.T
    with np.errstate(invalid="ignore", over="ignore"):
        right = (first >= 0) & (steps >= 0) & (first + steps <= most_steps) & (seconds >= 0)
        right &= (first == np.floor(first)) & (steps == np.floor(steps))
        right &= np.isfinite(log).all(axis=1)
    return log if right.all() else np.where(right[:, None], log, np.nan)


def read_log(files: StepFiles) -> Doubles:
    """Return the log of a worker from its beginning, with `repaired` rows."""
    return repaired(files.log(), files)


def repaired(log: Doubles, files: StepFiles) -> Doubles:
    """Return the log with rows in place of damaged ones: their steps count, with NaN as times."""
    damaged = np.isnan(log[:, 0])
    if not damaged.any():
        return log
    parts, begin = [log[:0]], 0.0
    for part in np.split(log, np.flatnonzero(np.diff(damaged)) + 1):
        if len(part) and not np.isnan(part[0, 0]):
            parts += [_between(begin, part[0, 0]), part]
            begin = float(part[-1, 0] + part[-1, 1])
    return np.concatenate([*parts, _between(begin, files.rows_written())])


def _between(first: float, end: float) -> Doubles:
    """Return a row of steps whose times are not known; none if there are no steps."""
    return np.array([[first, end - first, np.nan, np.nan]] if end > first else []).reshape(-1, 4)


def known(log: Doubles) -> Doubles:
    """Return the rows of a log without those of a damaged file."""
    return log[~np.isnan(log[:, 0])]


def counted_calls(log: Doubles) -> tuple[Doubles, Ints, Bools]:
    """Return the calls that no later row replaces completely, in order of steps: [calls, 4].

    Return also, for each, the end of its steps that still count, and whether it is the first call
    of its attempt.
    """
    log = known(log)
    first = log[:, 0]
    replaced = np.append(np.minimum.accumulate(first[::-1])[::-1][1:], np.inf)[: len(log)]
    ends = np.minimum(first + log[:, 1], replaced)
    opening = np.ones(len(log), np.bool_)
    opening[1:] = log[:-1, 1] == 0
    counts = ends > first
    return log[counts], ends[counts].astype(np.int64), opening[counts]


def attempts_of(log: Doubles) -> list[Doubles]:
    """Return the calls of each attempt that has made calls, also those that were replaced."""
    log = known(log)
    parts = np.split(log, np.flatnonzero(log[:, 1] == 0))
    calls = [part[part[:, 1] > 0] for part in parts]
    return [part for part in calls if len(part)]


def on_supervisor_clock(log: Doubles, clock: TaskClock) -> Doubles:
    """Return a log whose starts are on the supervisor's clock; `clock` is the writing task's."""
    log = known(log)
    if clock.agrees or not len(log):
        return log
    begins = log[:, 1] == 0
    begins[0] = True
    attempt = begins.cumsum() - 1
    moments = ((float(start), True) for start in log[begins, 2])
    ahead = np.array(clock.ahead_seconds(moments))
    return log - np.outer(ahead[attempt], [0.0, 0.0, 1.0, 0.0])


def rows_in(path: Path, row_bytes: int) -> int:
    """Return the number of complete rows of a file; 0 without a file."""
    try:
        return path.stat().st_size // row_bytes
    except FileNotFoundError:
        return 0


def read_rows(
    path: Path, kind: str, row: int, start: int, count: int | None = None
) -> npt.NDArray[Any]:
    """Read complete rows of `row` numbers from row `start` on; none without a file."""
    row_bytes = row * np.dtype(kind).itemsize
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return np.empty(0, kind)
    try:
        there = max(0, os.fstat(descriptor).st_size // row_bytes - start)
        rows = there if count is None else min(count, there)
        content = _read_bytes(descriptor, start * row_bytes, rows * row_bytes)
    finally:
        os.close(descriptor)
    return np.frombuffer(content, kind, len(content) // row_bytes * row)


def _read_bytes(descriptor: int, offset: int, size: int) -> bytes:
    """Return `size` bytes, fewer at the end of the file; a single read gives at most 2 GiB."""
    parts = []
    while size and (content := os.pread(descriptor, size, offset)):
        offset, size = offset + len(content), size - len(content)
        parts.append(content)
    return parts[0] if len(parts) == 1 else b"".join(parts)
