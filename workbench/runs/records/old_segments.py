"""Records of earlier releases: a pair of files for each attempt, read as one array and one log.

`NUMBER-FIRST.steps` (or `.steps64`) holds the rows from step FIRST on, and `NUMBER-FIRST.calls`
their calls. A segment replaces the rows from FIRST on of segments with smaller numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .step_files import read_rows, rows_in, sound

if TYPE_CHECKING:
    Numbers = npt.NDArray[Any]

_NAME = re.compile(r"(\d{4,})-(\d{12,})\.steps(64)?")


class Segment(NamedTuple):
    """The files of an attempt."""

    number: int
    first: int
    path: Path


def find(task_dir: Path, most_steps: int) -> list[Segment]:
    """Return the segments in a worker's folder, in order."""
    try:
        names = [(_NAME.fullmatch(path.name), path) for path in task_dir.iterdir()]
    except FileNotFoundError:
        return []
    found = [Segment(int(name[1]), int(name[2]), path) for name, path in names if name]
    return sorted(segment for segment in found if segment.first <= most_steps)


@dataclass(frozen=True)
class Segments:
    """The records of a worker, as `StepFiles`."""

    segments: list[Segment]
    replicas: int
    most_steps: int

    def calls_written(self) -> int:
        return len(self.log())

    def rows_written(self) -> int:
        row = self._kind.itemsize * 3 * self.replicas
        return max(segment.first + rows_in(segment.path, row) for segment in self.segments)

    def log(self, start: int = 0) -> Numbers:
        parts = []
        for segment in self.segments:
            found = read_rows(segment.path.with_suffix(".calls"), "<f8", 4, 0).reshape(-1, 4)
            begin = found[0, 2] if len(found) else 0.0
            parts += [np.array([[segment.first, 0.0, begin, 0.0]]), found]
        return sound(np.concatenate(parts), self.most_steps)[start:]

    def rows(self, first: int, count: int) -> Numbers:
        rows = np.zeros((min(count, self.rows_written() - first), self.replicas, 3), self._kind)
        for segment in self.segments:
            at = max(0, segment.first - first)
            wanted = max(0, first - segment.first), max(0, len(rows) - at)
            found = read_rows(segment.path, self._kind.str, 3 * self.replicas, *wanted)
            found = found.reshape(-1, self.replicas, 3)
            rows[at : at + len(found)] = found
        return rows

    def scalars(self) -> dict[str, Path]:
        return {}

    @property
    def _kind(self) -> np.dtype[Any]:
        return np.dtype("<f8" if self.segments[-1].path.suffix == ".steps64" else "<f4")
