"""The records of a run as arrays: the rows of each task, without replaced rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.plan.plan import CHIEF, Plan
from workbench.runs.folder.clocks import TaskClock
from workbench.runs.folder.events import Event
from workbench.runs.folder.state import supervisor_events

from .reader import read_blocks, step_files
from .step_files import (
    MOST_STEPS,
    Bools,
    Doubles,
    Floats,
    Ints,
    counted_calls,
    on_supervisor_clock,
    read_log,
    read_rows,
)

RESERVED = frozenset((
    *("run", "step", "epoch", "worker", "replica", "loss", "accuracy", "test_loss"),
    *("test_accuracy", "examples", "call_seconds", "time", "examples_per_second", "seconds"),
    "steps",
))  # fmt: skip
"""Columns of tables of runs, steps and epochs."""
UNKNOWN = np.iinfo(np.int64).max
WorkerCounts = tuple[tuple[int, int], ...]
"""For each attempt, in order: its first step, and its number of workers."""


@dataclass(frozen=True)
class Shape:
    """The values of the plan that are needed to read the records."""

    replicas: int
    """Replicas of each task."""
    steps_per_epoch: int
    synchronous: bool = True
    """Whether all workers take each step together; if not, each worker counts its own steps."""
    worker_counts: WorkerCounts = ()
    """How many workers there were from which step on, if that is known."""
    total_steps: int = MOST_STEPS

    @classmethod
    def of(cls, plan: Plan, worker_counts: WorkerCounts = ()) -> Shape:
        """Return the shape of the records of a plan's run."""
        each, steps = plan.local_replicas, plan.steps_per_epoch
        return cls(each, steps, plan.synchronous, worker_counts, plan.total_steps)

    def epochs_of(self, steps: npt.NDArray[Any], epoch_ends: npt.NDArray[Any]) -> Ints:
        """Return the epoch, from 0, that each step of a worker belongs to.

        `epoch_ends` are the numbers of its steps at the ends of epochs, if it counts its own steps.
        """
        if self.synchronous:
            return (steps // self.steps_per_epoch).astype(np.int64)
        return np.searchsorted(epoch_ends, steps, side="right")


class TaskRecords:
    """All records of one task, in order of steps, without replaced rows.

    Attributes:
        steps: int64 [N], 0-based numbers of the recorded steps; numbers not recorded are absent.
        values: [N, replicas, 3]: loss sum, correct, examples; float32, or float64 if the run
            computed in float64.
        calls: float64 [M, 4]: first step, steps, start in unix seconds, seconds. The start is on
            the supervisor's clock.
        opening: bool [M], whether a call is the first of its attempt.
        scalars: the names of the other numbers that steps reported; see `scalar`.
    """

    def __init__(
        self,
        task_dir: Path,
        worker: int,
        shape: Shape,
        clock: TaskClock,
        epoch_ends: Sequence[int] = (),
    ) -> None:
        """`clock` is that of the task that timed the calls."""
        self.worker = worker
        self.shape = shape
        self._epoch_ends = np.array(epoch_ends, np.int64)
        files = step_files(task_dir, shape.replicas, shape.total_steps)
        log = on_supervisor_clock(read_log(files), clock)
        self.calls, ends, self.opening = counted_calls(log)
        self.steps: Ints = np.empty(0, np.int64)
        self.values: Floats = np.empty((0, shape.replicas, 3), np.float32)
        if blocks := list(read_blocks(files, self.calls, ends)):
            steps = [each.first_step + np.arange(len(each.values)) for each in blocks]
            self.steps = joined(steps, self.steps)
            self.values = joined([each.values for each in blocks], self.values)
        self._scalars = files.scalars()
        self.scalars = tuple(self._scalars)
        if shape.synchronous and shape.worker_counts:
            self._leave_out_absence()

    def scalar(self, name: str) -> Floats:
        """Return a number that steps reported, [N, replicas]; NaN where it is unknown."""
        found = np.full(self.values.shape[:2], np.nan, self.values.dtype)
        if name in self._scalars:
            kind = self.values.dtype.newbyteorder("<").str
            rows = read_rows(self._scalars[name], kind, self.shape.replicas, 0)
            rows = rows.reshape(-1, self.shape.replicas)
            there = self.steps < len(rows)
            found[there] = rows[self.steps[there]]
        return found

    def scalar_sums(self, name: str) -> tuple[Doubles, Doubles]:
        """Return a number's sum over the examples of a step, and these examples, float64 [N] each.

        Both are 0 in a step that did not report it. Their quotient is the mean.
        """
        values, examples = self.scalar(name).astype(np.float64), self.values[..., 2]
        reported = ~np.isnan(values).all(axis=1)
        sums = np.where(examples > 0, values * examples, 0.0).sum(axis=1)
        return np.where(reported, sums, 0.0), np.where(reported, examples.sum(axis=1), 0.0)

    def _leave_out_absence(self) -> None:
        """Drop steps that fewer workers did again, without this worker."""
        here = self.worker < workers_at(self.shape.worker_counts, self.steps)
        self.steps, self.values = self.steps[here], self.values[here]
        called = self.worker < workers_at(self.shape.worker_counts, self.calls[:, 0])
        self.calls, self.opening = self.calls[called], self.opening[called]

    @cached_property
    def call_of_step(self) -> Ints:
        """Index of the call that each recorded step ran in, int64 [N]; -1 where unknown."""
        if not len(self.calls):
            return np.full(len(self.steps), -1, np.int64)
        index = np.searchsorted(self.calls[:, 0], self.steps, side="right") - 1
        call = self.calls[index]
        inside = (index >= 0) & (self.steps < call[:, 0] + call[:, 1])
        return np.where(inside, index, -1)

    @cached_property
    def call_examples(self) -> Doubles:
        """Examples of each call over the task's replicas, float64 [M]; NaN if rows are missing."""
        known = self.call_of_step >= 0
        calls, count = self.call_of_step[known], len(self.calls)
        examples = self.values[known, :, 2].sum(axis=1, dtype=np.float64)
        sums = np.bincount(calls, examples, minlength=count)
        whole = np.bincount(calls, minlength=count) == self.calls[:, 1]
        return np.where(whole, sums, np.nan)

    def epochs_of(self, steps: npt.NDArray[Any]) -> Ints:
        """Return the epoch, from 0, that each step belongs to."""
        return self.shape.epochs_of(steps, self._epoch_ends)

    def of_call(self, values: Doubles) -> Doubles:
        """Return for each step, float64 [N], its call's value in `values` [M]; NaN if unknown."""
        return np.append(values, np.nan)[self.call_of_step]

    def step_ends(self) -> Doubles:
        """Return the end of each step, float64 [N] unix seconds, for equal steps in a call."""
        first, count, start, seconds = map(self.of_call, self.calls.T)
        return start + seconds * (self.steps + 1 - first) / count

    def steady_seconds(self) -> Doubles:
        """Return the seconds of each call with the gap after it, [M]; see `steady_spans`."""
        return steady_spans(self.calls, self.epochs_of(self.calls[:, 0]), self.opening)


def steady_spans(calls: Doubles, epochs: Ints, opening: Bools) -> Doubles:
    """Return the seconds of each call with the gap until the next call, float64 [M].

    The first call of an attempt, which may trace, is NaN; `opening` says which calls these are. The
    last call of an epoch counts without a gap, because the test pass follows it. `epochs` has the
    epoch of each call.
    """
    _, _, start, seconds = calls.T
    goes_on = np.append((epochs[1:] == epochs[:-1]) & ~opening[1:], False)
    gaps = np.append(start[1:] - start[:-1], 0.0)
    spans = np.where(goes_on, np.maximum(gaps, seconds), seconds)
    return np.where(opening, np.nan, spans)


def read_tasks(
    run_dir: Path, shape: Shape, epoch_ends: Mapping[str, Sequence[int]] | None = None
) -> list[TaskRecords]:
    """Read all workers of a run, by number.

    `epoch_ends` gives, for each worker that counts its own steps, the number of its steps at the
    end of each epoch.
    """
    folders = [path for path in run_dir.glob("worker-*") if path.name[7:].isdigit()]
    numbered = sorted((int(path.name[7:]), path) for path in folders)
    ends, events = epoch_ends or {}, supervisor_events(run_dir)
    return [
        TaskRecords(
            path,
            number,
            shape,
            TaskClock(path.name if shape.synchronous else CHIEF, events),
            ends.get(path.name, ()),
        )
        for number, path in numbered
    ]


def missing_ranges(tasks: Sequence[TaskRecords], done: int) -> list[tuple[int, int]]:
    """Return (first, last), from 0, of each range of steps below `done` that a task did not record.

    If workers count their own steps, these are the gaps in each worker's records.
    """
    if tasks and not tasks[0].shape.synchronous:
        return [
            gap
            for task in tasks
            for gap in _gaps(task.steps, int(task.steps[-1]) + 1 if len(task.steps) else 0)
        ]
    return _gaps(shared_steps(tasks)[0], done)


def _gaps(recorded: Ints, done: int) -> list[tuple[int, int]]:
    edges = np.concatenate(([-1], recorded[recorded < done], [done]))
    gaps = np.flatnonzero(np.diff(edges) > 1)
    return [(int(edges[gap]) + 1, int(edges[gap + 1]) - 1) for gap in gaps]


def shared_steps(tasks: Sequence[TaskRecords]) -> tuple[Ints, list[tuple[Any, Any]]]:
    """Return the steps that all workers of that step recorded.

    Return also, for each task, the numbers of its rows that belong to these steps, and the places
    of these rows among the steps.
    """
    if not tasks:
        return np.empty(0, np.int64), []
    if len(tasks) == 1:
        return tasks[0].steps, [(slice(None), slice(None))]
    steps, counts = np.unique(np.concatenate([task.steps for task in tasks]), return_counts=True)
    needed = np.minimum(workers_at(tasks[0].shape.worker_counts, steps), len(tasks))
    shared = steps[counts >= needed]
    picked = []
    for task in tasks:
        own = np.flatnonzero(np.isin(task.steps, shared, assume_unique=True))
        picked.append((own, np.searchsorted(shared, task.steps[own])))
    return shared, picked


def epoch_ends_of(epochs: Iterable[Event]) -> dict[str, list[int]]:
    """Return how many steps each worker that counts its own had done at the ends of epochs.

    `epochs` are the events of the ends, in order.
    """
    ends: dict[str, list[int]] = {}
    for event in epochs:
        for worker, steps in event.get("worker_steps", {}).items():
            ends.setdefault(worker, []).append(steps)
    return ends


def worker_counts_of(leader_events: Iterable[Event]) -> WorkerCounts:
    """Return the worker counts from the leading task's events; empty if no event names them."""
    starts = [event for event in leader_events if event["event"] == "start"]
    return tuple((int(e.get("step", 0)), int(e["workers"])) for e in starts if "workers" in e)


def workers_at(worker_counts: WorkerCounts, steps: npt.NDArray[Any]) -> Ints:
    """Return the number of workers that did each step the last time.

    It is `UNKNOWN`, more than any number of workers, for steps before the first known attempt.
    """
    counts = np.full(len(steps), UNKNOWN)
    for first, workers in worker_counts:
        counts[steps >= first] = workers
    return counts


def steps_with(worker: int, worker_counts: WorkerCounts, edges: Ints) -> Ints:
    """Return at how many steps of each stretch a worker takes part, int64 [len(edges) - 1].

    `edges` are the first steps of the stretches, and the end of the last one. It agrees with
    `workers_at`, and needs no memory for each step of a long stretch.
    """
    attempts = [(0, UNKNOWN)]
    for first, workers in worker_counts:
        attempts = [*(each for each in attempts if each[0] < first), (first, workers)]
    ends = [*(first for first, _ in attempts[1:]), int(edges[-1])]
    found = np.zeros(len(edges) - 1, np.int64)
    for (first, workers), end in zip(attempts, ends, strict=True):
        if worker < workers:
            inside = np.clip(edges, first, max(first, end))
            found += inside[1:] - inside[:-1]
    return found


def scalar_columns(tasks: Sequence[TaskRecords]) -> dict[str, str]:
    """Return the names of the other numbers that steps reported, by the names of their columns.

    A column whose name another one has ends with `_`.
    """
    columns: dict[str, str] = {}
    for name in dict.fromkeys(name for task in tasks for name in task.scalars):
        column = name
        while column in RESERVED or column in columns:
            column += "_"
        columns[column] = name
    return columns


def joined(parts: list[npt.NDArray[Any]], empty: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if not parts:
        return empty
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
