"""What was computed from a run that is over, kept in its folder until the run goes on."""

from __future__ import annotations

import contextlib
import json
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.points import Lines
from workbench.runs.folder.files import RunError, write_bytes
from workbench.runs.folder.state import status

from .history import History
from .ledger import read_ledger
from .live import LiveRun

if TYPE_CHECKING:
    from workbench.plan import Plan

OVER = ("finished", "stopped", "failed")
Stamp = list[int]
"""Values that change when a run goes on; empty if they are not known."""


@dataclass(frozen=True)
class CacheFile:
    """A file in the folder of a run that is over: a line of JSON values, and bytes after it."""

    name: str
    version: int

    def read(self, run_dir: Path, stamp: Stamp) -> tuple[dict[str, Any], bytes] | None:
        """Return what was kept at this stamp; None if there is nothing, or if it is damaged."""
        try:
            head, _, body = (run_dir / self.name).read_bytes().partition(b"\n")
            values = json.loads(head)
            found = (values.pop("version"), values.pop("stamp"), values.pop("crc32"))
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return None
        whole = stamp and found == (self.version, stamp, zlib.crc32(body))
        return (values, body) if whole else None

    def write(self, run_dir: Path, stamp: Stamp, values: dict[str, Any], body: bytes = b"") -> None:
        """Keep what was computed from the run since this stamp; not if it has gone on since."""
        if stamp_of(run_dir) == stamp:
            head = {"version": self.version, "stamp": stamp, "crc32": zlib.crc32(body), **values}
            with contextlib.suppress(RunError):  # in a read-only folder, nothing is kept
                write_bytes(run_dir / self.name, json.dumps(head).encode() + b"\n" + body)


@dataclass(frozen=True)
class Totals:
    """The numbers of a complete run that all its records are read for; None is unknown."""

    examples_per_second: float | None
    """In the steady state; see `speed`."""
    seconds: float | None
    """How long it took; see `Ledger.seconds`."""


TOTALS = CacheFile("totals.json", 1)


def read_totals(run_dir: Path) -> Totals:
    """Return the totals of a run so far; those of a run that is over are kept in its folder.

    Raises:
        RunError: the run's folder cannot be read.
    """
    stamp = stamp_of(run_dir)
    if found := TOTALS.read(run_dir, stamp):
        with contextlib.suppress(TypeError):
            return Totals(**found[0])
    totals = Totals(History(run_dir).steady_rate(), read_ledger(run_dir).seconds)
    if status(run_dir) in OVER:
        TOTALS.write(run_dir, stamp, asdict(totals))
    return totals


LINES = CacheFile("curves.kept", 1)
ACROSS, MEASURES = ("step", "examples", "training_seconds"), ("loss", "accuracy", "rate")


class RunLines:
    """The lines of a run. A read takes only new records; of a run that is over, one small file."""

    def __init__(self, run_dir: Path, plan: Plan) -> None:
        self._dir, self._plan = run_dir, plan
        self._live: LiveRun | None = None
        self._stamp: Stamp = []
        self._last: Lines | None = None
        """The lines of the run that was over at the stamp."""

    def read(self) -> Lines:
        """Return the present lines; those of a run that is over are kept in its folder.

        Raises:
            RunError: the run's folder cannot be read.
        """
        stamp = stamp_of(self._dir)
        if self._last is None or not stamp or stamp != self._stamp:
            self._stamp, self._last = stamp, _cached_lines(self._dir, stamp)
        return self._read(stamp) if self._last is None else self._last

    def _read(self, stamp: Stamp) -> Lines:
        over = bool(stamp) and status(self._dir) in OVER
        self._live = self._live or LiveRun(self._dir, self._plan)
        for _ in range(2 if over else 1):  # the second gives the steps whose time is not recorded
            self._live.poll()
        lines = self._live.points().lines
        if over:
            _cache_lines(self._dir, stamp, lines)
            self._last, self._live = lines, None
        return lines


def stamp_of(run_dir: Path) -> Stamp:
    """Return values that change when a run goes on."""
    try:
        events = (run_dir / "events.jsonl").stat()
    except OSError:
        return []
    return [events.st_size, events.st_mtime_ns]


def _cache_lines(run_dir: Path, stamp: Stamp, lines: Lines) -> None:
    rows = [getattr(lines, name) for name in (*ACROSS, *MEASURES)]
    values = {
        "points": len(lines.step),
        "steps_a_point": lines.steps_a_point,
        "synchronous": lines.synchronous,
    }
    LINES.write(run_dir, stamp, values, np.vstack(rows).astype("<f8").tobytes())


def _cached_lines(run_dir: Path, stamp: Stamp) -> Lines | None:
    found = LINES.read(run_dir, stamp)
    if found is None:
        return None
    values, body = found
    try:
        rows = np.frombuffer(body, "<f8").reshape(-1, values["points"])
        across = dict(zip(ACROSS, rows, strict=False))
        lines = dict(zip(MEASURES, np.split(rows[len(ACROSS) :], len(MEASURES)), strict=True))
        steps_a_point, synchronous = int(values["steps_a_point"]), bool(values["synchronous"])
        return Lines(**across, **lines, steps_a_point=steps_a_point, synchronous=synchronous)
    except (ValueError, LookupError, TypeError):
        return None
