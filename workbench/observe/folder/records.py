"""The records of the steps of a task, or of the workers that it leads.

A worker has arrays of its steps and a log of its calls. Row n of steps.f4 (.f8 in float64) is step
n: [replicas, 3]. Row n of scalar-NAME.f4 holds another number of that step, [replicas]: NaN, or no
row, if the step did not report it. The log calls.f8 has a row for each call: first step, number of
steps, start in seconds since 1970, seconds. A row replaces all that was recorded from its first
step on; one without steps begins an attempt at the run. The file updates has rows of float64: a
step, when it read the weights and when it updated them, both in seconds since 1970.
"""

import itertools
import pathlib
import time
import urllib.parse
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

LOG_ROW_BYTES, UPDATE_BYTES = 32, 24
MOST_NAME_BYTES = 200  # of a file's name, which has at most 255
WAIT_SECONDS = 0.05
"""About the longest time that calls wait until they are written together, if more calls come."""


class Kind(NamedTuple):
    """What rows of steps hold: [steps, replicas, 3 + scalars]."""

    trains: bool
    """Whether the steps train; if not, they test."""
    scalars: tuple[str, ...]
    """The names of the values after the sum of losses, the correct answers and the examples."""


class Call(NamedTuple):
    """A call of a graph function, or a part of a long one."""

    step: int
    """Its first step."""
    kind: Kind
    rows: np.ndarray
    start: float
    seconds: float
    updates: np.ndarray | None = None
    """[steps, 2]: when each step read the weights, and when it had updated them."""


class Lost(NamedTuple):
    """Steps that could not be written completely."""

    first_step: int
    steps: int
    error: str


class Records:
    """The records of one worker in a folder."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder, self.begun, self.cut = folder, False, False
        self.waiting: list[Call] = []
        self.written_at = time.monotonic()

    def begin(self, step: int) -> None:
        """Begin an attempt at this step: what was recorded from there on no longer counts.

        No call may wait to be written.

        Raises:
            OSError: it cannot be written.
        """
        self._log([[step, 0, time.time(), 0]])
        self.begun, self.cut = True, False

    def steps(self) -> int:
        """Return the number of steps that are recorded."""
        path = self.folder / "calls.f8"
        rows = path.stat().st_size // LOG_ROW_BYTES if path.exists() else 0
        if not rows:
            return 0
        with path.open("rb") as file:
            file.seek((rows - 1) * LOG_ROW_BYTES)
            first, count, *_ = np.frombuffer(file.read(LOG_ROW_BYTES), "<f8")
        return int(first + count)

    def add(self, call: Call) -> Lost | None:
        """Record a call, at once or together with the next ones; return what was lost."""
        self.waiting.append(call)
        waited = time.monotonic() - self.written_at
        return self.flush() if waited > WAIT_SECONDS else None

    def flush(self) -> Lost | None:
        """Write the calls that wait; return what was lost."""
        calls, self.waiting, self.written_at = self.waiting, [], time.monotonic()
        if not calls:
            return None
        try:
            if not self.begun:
                self.begin(calls[0].step)
            for _, part in itertools.groupby(calls, lambda c: (c.rows.dtype, c.rows.shape[1])):
                self._write(list(part))
        except OSError as error:
            return Lost(calls[0].step, sum(len(call.rows) for call in calls), str(error))
        return None

    def _write(self, calls: Sequence[Call]) -> None:
        step, kind, rows = calls[0].step, *joined([(call.kind, call.rows) for call in calls])
        ending, replicas = f"f{rows.itemsize}", rows.shape[1]
        self._put(f"steps.{ending}", rows[..., :3], step * rows[0, :, :3].nbytes)
        try:
            if not self.cut:
                self._cut(step, replicas)
            for number, name in enumerate(kind.scalars, 3):
                quoted = urllib.parse.quote(name, safe="")[:MOST_NAME_BYTES]
                self._put_known(f"scalar-{quoted}.{ending}", rows[..., number], step)
        finally:  # the steps count without them, too
            self._log([[call.step, len(call.rows), call.start, call.seconds] for call in calls])
        updates = [(call.step, call.updates) for call in calls if call.updates is not None]
        if updates:
            self._append_updates(updates)

    def _cut(self, step: int, replicas: int) -> None:
        """Drop the numbers that an earlier attempt recorded from a step on."""
        for path in self.folder.glob("scalar-*.f[48]"):
            with path.open("r+b") as file:
                file.truncate(min(path.stat().st_size, step * replicas * int(path.suffix[2:])))
        self.cut = True

    def _put_known(self, name: str, values: np.ndarray, step: int) -> None:
        """Write a number [steps, replicas]; it is NaN in all earlier steps without it."""
        path, row_bytes = self.folder / name, values[0].nbytes
        known = path.stat().st_size // row_bytes if path.exists() else 0
        if known < step:
            unknown = np.full((step - known, values.shape[1]), np.nan, values.dtype)
            values = np.concatenate([unknown, values])
        self._put(name, values, min(known, step) * row_bytes)

    def _log(self, rows: list[list[float]]) -> None:
        path = self.folder / "calls.f8"
        size = path.stat().st_size if path.exists() else 0
        self._put("calls.f8", np.array(rows), size // LOG_ROW_BYTES * LOG_ROW_BYTES)

    def _append_updates(self, parts: list[tuple[int, np.ndarray]]) -> None:
        rows = [np.column_stack([step + np.arange(len(times)), times]) for step, times in parts]
        with (self.folder / "updates").open("ab") as file:
            file.truncate(file.tell() // UPDATE_BYTES * UPDATE_BYTES)
            file.write(np.concatenate(rows).astype("<f8").tobytes())

    def _put(self, name: str, values: np.ndarray, at: int) -> None:
        """Write at a byte of a file, in place of all that follows.

        The file is opened each time, so that other hosts see what was written.
        """
        with (self.folder / name).open("ab") as file:
            file.truncate(at)
            file.write(values.astype(values.dtype.newbyteorder("<")).tobytes())


class WorkersCall(NamedTuple):
    """A call that a worker has done. All times are the worker's, in seconds since 1970."""

    worker: int
    kind: Kind
    rows: np.ndarray
    times: np.ndarray
    """[steps, 2]: when each step was about to read the weights, and when it had updated them."""
    span: np.ndarray
    """[2]: when the call began and ended."""


class LedRecords:
    """The records of the workers that a coordinator leads, each with its own steps."""

    def __init__(self, run_dir: pathlib.Path | None, event: Callable[..., None]) -> None:
        """Record in the workers' folders of `run_dir`; None: nowhere."""
        self.dir, self.event = run_dir, event
        self.steps: dict[str, int] = {}
        """The steps that each worker has done."""
        self.records: dict[str, Records] = {}

    def begin(self) -> None:
        """Begin an attempt of each worker at its step.

        Raises:
            OSError: it cannot be written.
        """
        self.records.clear()
        for worker, step in self.steps.items():
            self._of(worker, step)

    def add(self, call: WorkersCall) -> int | None:
        """Record a call; return its first step whose loss is not a finite number, if any."""
        worker, count = f"worker-{call.worker}", len(call.rows)
        first = self.steps.get(worker, 0)
        if not count:
            return None
        self.steps[worker] = first + count
        start, seconds = float(call.span[0]), float(call.span[1] - call.span[0])
        try:
            if records := self._of(worker, first):
                added = Call(first, call.kind, call.rows, start, seconds, call.times)
                self._report(worker, records.add(added))
        except OSError as error:
            self._report(worker, Lost(first, count, str(error)))
        broken = np.argwhere(~np.isfinite(call.rows[..., 0]))[:1, 0].tolist()
        return first + broken[0] if broken else None

    def recorded(self) -> dict[str, int]:
        """Return the steps of each worker that are recorded."""
        if self.dir is None:
            return dict.fromkeys(self.steps, 0)
        return {worker: Records(self.dir / worker).steps() for worker in self.steps}

    def flush(self) -> None:
        """Write what waits to be written."""
        for worker, records in self.records.items():
            self._report(worker, records.flush())

    def _report(self, worker: str, lost: Lost | None) -> None:
        if lost:
            about = {"worker": int(worker[7:]), "steps": lost.steps, "error": lost.error}
            self.event("unrecorded", worker_first_step=lost.first_step, **about)

    def _of(self, worker: str, step: int) -> Records | None:
        """Return a worker's records, which begin an attempt at this step if they are new."""
        if self.dir is not None and worker not in self.records:
            records = Records(self.dir / worker)
            records.folder.mkdir(parents=True, exist_ok=True)
            records.begin(step)
            self.records[worker] = records
        return self.records.get(worker)


def joined(parts: Sequence[tuple[Kind, np.ndarray]]) -> tuple[Kind, np.ndarray]:
    """Return rows of several kinds of training, or of testing, as rows of one."""
    if all(kind == parts[0][0] for kind, _ in parts):
        return parts[0][0], np.concatenate([rows for _, rows in parts])
    names = list(dict.fromkeys(name for kind, _ in parts for name in kind.scalars))
    every = []
    for kind, rows in parts:
        wide = np.full((*rows.shape[:2], 3 + len(names)), np.nan, rows.dtype)
        wide[..., [*range(3), *(3 + names.index(name) for name in kind.scalars)]] = rows
        every.append(wide)
    return Kind(parts[0][0].trains, tuple(names)), np.concatenate(every)


def in_order(
    parts: Sequence[tuple[Kind, np.ndarray, np.ndarray]],
) -> tuple[Kind, np.ndarray, np.ndarray]:
    """Return rows and their times [steps, ...] of several kinds as one, in the order of time."""
    if len(parts) == 1:
        return parts[0]
    kind, rows = joined([(kind, rows) for kind, rows, _ in parts])
    times = np.concatenate([each for _, _, each in parts])
    order = np.argsort(times.reshape(len(times), -1)[:, 0], kind="stable")
    return kind, rows[order], times[order]
