"""Reads a task's records while they grow, each byte once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from .segments import MOST_STEPS, Doubles, Floats, Ints, Segment, kept_rows, known, list_segments

MOST_VALUES = 2**18
"""The most steps times replicas of a block, so that it fits into a processor's cache."""
SETTLED_SECONDS = 2.0
"""After this time a new change of a folder has another timestamp, however coarse the clock is."""


@dataclass(frozen=True)
class Block:
    """New rows since the last poll, of consecutive steps.

    If `replaces` is true, a consumer first drops its rows from `first_step` on, because a resumed
    run does steps again. Then it appends the block. Steps between the last block's end and
    `first_step` were not recorded.
    """

    first_step: int
    """0-based global step of the first row."""
    values: Floats
    """float32 [rows, replicas, 3]: loss sum, correct (NaN without accuracy), examples."""
    call_seconds: Doubles
    """float64 [rows]: the time of the complete call that contained each step; NaN if unknown."""
    call_steps: Doubles
    """float64 [rows]: the number of steps of that call; NaN if unknown."""
    replaces: bool

    def head(self, rows: int) -> Block:
        """Return a block of its first rows."""
        steps = self.call_seconds[:rows], self.call_steps[:rows]
        return Block(self.first_step, self.values[:rows], *steps, self.replaces)


class StepReader:
    """Follows the records of one task.

    `poll` never reads a byte twice and takes complete rows only. It continues with new segments,
    and starts a segment again if its file has become shorter.
    """

    def __init__(
        self, task_dir: str | Path, num_replicas: int, total_steps: int = MOST_STEPS
    ) -> None:
        self._task_dir = Path(task_dir)
        self._replicas = num_replicas
        self._total_steps = total_steps
        self._listed_ns = -1
        """The disk's time of the folder's last change when its segments were listed."""
        self._settles_at = 0.0
        """When a new change has another timestamp for certain, on this process's own clock."""
        self._segments: list[Segment] = []
        self._segment: Segment | None = None
        self._rows = 0
        """Rows of the segment that were returned."""
        self._calls = 0
        self._held = np.empty((0, 4))
        """Calls that were read and reach beyond the returned rows."""
        self._seen = 0
        """Rows on disk at the last poll. At the next, their calls are written or never will be."""
        self._end = 0
        """One past the last returned step."""

    def poll(self) -> Iterator[Block]:
        """Yield new records, oldest first, in blocks of bounded size."""
        segments = self._listed()
        for segment in self._ahead(segments):
            if self._segment is None or segment.number != self._segment.number:
                self._open(segment)
            yield from self._read(segment, newest=segment is segments[-1])

    def _listed(self) -> list[Segment]:
        """Return the segments; list them again only if the folder may have changed."""
        try:
            changed_ns = self._task_dir.stat().st_mtime_ns
        except FileNotFoundError:
            return []
        now = time.monotonic()
        if changed_ns != self._listed_ns:
            self._listed_ns, self._settles_at = changed_ns, now + SETTLED_SECONDS
        if now < self._settles_at:
            self._segments = list_segments(self._task_dir, self._total_steps)
        return self._segments

    def _ahead(self, segments: list[Segment]) -> list[Segment]:
        """Return the current and later segments, without segments replaced before they are read."""
        number = -1 if self._segment is None else self._segment.number
        rest = [segment for segment in segments if segment.number >= number]
        kept: list[Segment] = []
        for segment in reversed(rest):
            if not kept or segment.first_step < kept[-1].first_step or segment.number == number:
                kept.append(segment)
        return kept[::-1]

    def _open(self, segment: Segment) -> None:
        self._segment = segment
        self._rows = self._calls = self._seen = 0
        self._held = np.empty((0, 4))

    def _read(self, segment: Segment, *, newest: bool) -> Iterator[Block]:
        rows = segment.rows(self._replicas)
        if rows < self._rows:
            self._open(segment)
        new = segment.calls(self._calls)
        self._calls += len(new)
        new = known(new)
        self._held = np.vstack([self._held, new]) if len(self._held) else new
        timed = int(min(rows, _ends(self._held).max(initial=0) - segment.first_step))
        ready = max(timed, self._seen) if newest else rows
        self._seen = rows
        for block in _blocks(segment, self._replicas, self._rows, ready, self._held):
            self._rows += len(block.values)
            self._held = self._held[_ends(self._held) > segment.first_step + self._rows]
            replaces = block.first_step < self._end
            self._end = block.first_step + len(block.values)
            yield replace(block, replaces=replaces)


def read_range(
    task_dir: str | Path, num_replicas: int, first: int, last: int, total_steps: int = MOST_STEPS
) -> Iterator[Block]:
    """Yield the records of steps `first` to `last`, both included, without replaced rows."""
    for segment, rows in kept_rows(list_segments(Path(task_dir), total_steps), num_replicas):
        start = max(0, first - segment.first_step)
        stop = min(rows, last + 1 - segment.first_step)
        if start < stop:
            yield from _blocks(segment, num_replicas, start, stop, known(segment.calls()))


def _blocks(
    segment: Segment, replicas: int, start: int, stop: int, calls: Doubles
) -> Iterator[Block]:
    most = max(1, MOST_VALUES // replicas)
    while start < stop:
        values = segment.values(replicas, start, min(most, stop - start))
        if not len(values):
            return
        first = segment.first_step + start
        seconds, counts = _of_calls(np.arange(first, first + len(values)), calls)
        start += len(values)
        yield Block(first, values, seconds, counts, replaces=False)


def _ends(calls: Doubles) -> Doubles:
    return calls[:, 0] + calls[:, 1]


def _of_calls(steps: Ints, calls: Doubles) -> tuple[Doubles, Doubles]:
    """Return seconds and number of steps of the call of each step; NaN if a step has no call."""
    if not len(calls):
        return np.full(len(steps), np.nan), np.full(len(steps), np.nan)
    index = np.searchsorted(calls[:, 0], steps, side="right") - 1
    first, counts, _, seconds = calls[index].T
    inside = (index >= 0) & (steps < first + counts)
    return np.where(inside, seconds, np.nan), np.where(inside, counts, np.nan)
