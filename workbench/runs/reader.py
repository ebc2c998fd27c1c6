"""Reading a task's records while they grow, each byte once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .segments import Doubles, Floats, Ints, Segment, list_segments


@dataclass(frozen=True)
class Block:
    """Rows that are new since the last poll, of steps in a row.

    A consumer first drops what it holds from `first_step` on, where `replaces` says so (a resumed
    run does steps again), then appends. Steps between the last block's end and `first_step` were
    not recorded.
    """

    first_step: int
    """0-based global step of the first row."""
    values: Floats
    """float32 [rows, replicas, 3]: loss sum, correct (NaN without accuracy), examples."""
    call_seconds: Doubles
    """float64 [rows]: the time of the whole call that each step ran in; NaN where unknown."""
    call_steps: Doubles
    """float64 [rows]: the number of steps of that call; NaN where unknown."""
    replaces: bool


class StepReader:
    """Follows the records of one task.

    `poll` never reads a byte twice, takes whole rows only, goes over to new segments, and starts a
    segment anew where its file has become shorter.
    """

    def __init__(self, task_dir: str | Path, num_replicas: int) -> None:
        self._task_dir = Path(task_dir)
        self._replicas = num_replicas
        self._segment: Segment | None = None
        self._rows = 0
        """Rows of the segment that were handed out."""
        self._calls = 0
        self._held = np.empty((0, 4))
        """Calls read that reach beyond the rows handed out."""
        self._seen = 0
        """Rows on disk at the last poll; by the next, their calls are written or never will be."""
        self._end = 0
        """One past the last step handed out."""

    def poll(self) -> list[Block]:
        """Return what is new, oldest first; an empty list where nothing is."""
        segments = list_segments(self._task_dir)
        blocks = []
        for segment in self._ahead(segments):
            if self._segment is None or segment.number != self._segment.number:
                self._open(segment)
            block = self._read(segment, newest=segment is segments[-1])
            if block is not None:
                blocks.append(block)
                self._end = block.first_step + len(block.values)
        return blocks

    def _ahead(self, segments: list[Segment]) -> list[Segment]:
        """Return the segment under way and later ones, less those replaced before they are read."""
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

    def _read(self, segment: Segment, *, newest: bool) -> Block | None:
        rows = segment.rows(self._replicas)
        if rows < self._rows:
            self._open(segment)
        new = segment.calls(self._calls)
        calls = np.vstack([self._held, new])
        ends = calls[:, 0] + calls[:, 1] - segment.first_step
        timed = int(min(rows, ends.max(initial=0)))
        ready = max(timed, self._seen) if newest else rows
        values = segment.values(self._replicas, self._rows, max(0, ready - self._rows))
        first = segment.first_step + self._rows
        self._calls += len(new)
        self._seen = rows
        self._rows += len(values)
        self._held = calls[ends > self._rows]
        if not len(values):
            return None
        seconds, counts = _of_calls(np.arange(first, first + len(values)), calls)
        return Block(first, values, seconds, counts, first < self._end)


def _of_calls(steps: Ints, calls: Doubles) -> tuple[Doubles, Doubles]:
    """Return seconds and number of steps of the call of each step; NaN where there is none."""
    table = np.vstack([calls, np.full(4, np.nan)])
    index = np.searchsorted(calls[:, 0], steps, side="right") - 1
    outside = steps >= table[index, 0] + table[index, 1]
    index[outside] = -1
    return table[index, 3], table[index, 1]
