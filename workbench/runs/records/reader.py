"""Reads a worker's records: of chosen steps, or each byte once while they grow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from . import old_segments
from .step_files import (
    CALLS,
    MOST_STEPS,
    Doubles,
    Floats,
    Ints,
    StepArrays,
    StepFiles,
    counted_calls,
    read_log,
    repaired,
)

MOST_VALUES = 2**18
"""The most steps times replicas of a block, so that it fits into a processor's cache."""
MOST_LONGER = 1000
"""A script that was edited by hand can train longer than planned, but by less than this factor."""


@dataclass(frozen=True)
class Block:
    """Rows of consecutive steps.

    If `replaces` is true, a consumer first drops its rows from `first_step` on, because a resumed
    run does steps again. Then it appends the block. Steps between the last block's end and
    `first_step` were not recorded.
    """

    first_step: int
    """0-based step of the first row."""
    values: Floats
    """float32 [rows, replicas, 3]: loss sum, correct (NaN without accuracy), examples."""
    call_seconds: Doubles
    """float64 [rows]: the time of the call that contained each step."""
    call_steps: Doubles
    """float64 [rows]: the number of steps of that call."""
    replaces: bool = False

    def head(self, rows: int) -> Block:
        """Return a block of its first rows."""
        steps = self.call_seconds[:rows], self.call_steps[:rows]
        return Block(self.first_step, self.values[:rows], *steps, self.replaces)


def step_files(task_dir: Path, replicas: int, total_steps: int = MOST_STEPS) -> StepFiles:
    """Return the records of a worker with so many replicas, also those of earlier releases.

    A call far beyond `total_steps`, the steps of its run, comes from a damaged file.
    """
    most_steps = min(MOST_STEPS, max(1, total_steps) * MOST_LONGER)
    if not (task_dir / CALLS).exists() and (found := old_segments.find(task_dir, most_steps)):
        return old_segments.Segments(found, replicas, most_steps)
    return StepArrays(task_dir, replicas, most_steps)


class StepReader:
    """Follows the records of one worker. `poll` reads only what was recorded since the last one."""

    def __init__(
        self, task_dir: str | Path, num_replicas: int, total_steps: int = MOST_STEPS
    ) -> None:
        self._where = Path(task_dir), num_replicas, total_steps
        self._calls = 0
        """Rows of the log that were read."""
        self._end = 0
        """One past the last returned step."""

    def poll(self) -> Iterator[Block]:
        """Yield new records, oldest first, in blocks of bounded size."""
        files = step_files(*self._where)
        if files.calls_written() < self._calls:
            self._calls = 0  # another file is in its place
        log = files.log(self._calls)
        new = log if self._calls else repaired(log, files)
        self._calls += len(log)
        calls, ends, _ = counted_calls(new)
        for block in read_blocks(files, calls, ends, most_values=MOST_VALUES):
            replaces = block.first_step < self._end
            self._end = block.first_step + len(block.values)
            yield replace(block, replaces=replaces)


def read_range(
    task_dir: str | Path, num_replicas: int, first: int, last: int, total_steps: int = MOST_STEPS
) -> Iterator[Block]:
    """Yield the records of steps `first` to `last`, both included, without replaced rows."""
    files = step_files(Path(task_dir), num_replicas, total_steps)
    calls, ends, _ = counted_calls(read_log(files))
    inside = (ends > first) & (calls[:, 0] <= last)
    ends = np.minimum(ends, last + 1)
    yield from read_blocks(files, calls[inside], ends[inside], first, MOST_VALUES)


def read_blocks(
    files: StepFiles, calls: Doubles, ends: Ints, first: int = 0, most_values: int | None = None
) -> Iterator[Block]:
    """Yield the rows of calls, from step `first` on, that reach up to `ends`.

    Both are as `counted_calls` returns them. A block has at most `most_values` steps x replicas.
    """
    most = MOST_STEPS if most_values is None else max(1, most_values // files.replicas)
    begins = np.maximum(calls[:, 0].astype(np.int64), first)
    there = begins < (ends := np.minimum(ends, files.rows_written()))  # the file may be damaged
    calls, begins, ends = calls[there], begins[there], ends[there]
    apart = np.flatnonzero(begins[1:] != ends[:-1]) + 1
    for part in np.split(np.arange(len(calls)), apart):
        if not len(part):
            return
        counts = (ends - begins)[part]
        seconds, steps = np.repeat(calls[part, 3], counts), np.repeat(calls[part, 1], counts)
        start, total, done = int(begins[part[0]]), int(counts.sum()), 0
        while done < total:
            values = files.rows(start + done, min(most, total - done))
            if not len(values):
                break  # the file was cut
            rows = slice(done, done + len(values))
            yield Block(start + done, values, seconds[rows], steps[rows])
            done += len(values)
