"""Follows a run while it grows: each byte of its records and events is read once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.plan.plan import EVALUATOR
from workbench.points import EpochPoints
from workbench.runs.folder.events import Event, EventTail, note_epoch

from .arrays import WorkerCounts, worker_counts_of, workers_at
from .curves import MOST_POINTS, Curves
from .epochs import column_of, metric_columns
from .reader import Block, StepReader, read_range

if TYPE_CHECKING:
    from workbench.plan import Plan
    from workbench.points import Points


@dataclass(frozen=True)
class Window:
    """The steps of a run to show in detail, from 0 with both ends, and the most points to use."""

    first_step: int
    last_step: int
    most_points: int


class LiveRun:
    """Follows one run from its beginning, one `poll` at a time."""

    def __init__(self, run_dir: Path, plan: Plan) -> None:
        self._dir, self._plan = run_dir, plan
        self._events = EventTail(run_dir / plan.leader / "events.jsonl")
        self._tests = EventTail(run_dir / EVALUATOR / "events.jsonl")
        self._epochs: dict[int, Event] = {}
        self._worker_counts: WorkerCounts = ()
        self._open(self._plan.workers)

    def _open(self, workers: int) -> None:
        """Start to read the records of `workers` workers, and of all workers before a resume."""
        self._task_dirs = [self._dir / task for task in _ever(self._dir, workers)]
        shape = self._plan.local_replicas, self._plan.total_steps
        self._readers = [StepReader(task_dir, *shape) for task_dir in self._task_dirs]
        self.curves = self._curves()

    def poll(self) -> bool:
        """Read new records; return whether there were events, as at the end of an epoch."""
        events = self._events.poll()
        for event in events:
            note_epoch(self._epochs, event)
        self._note_worker_counts(events)
        tests = [event for event in self._tests.poll() if event["event"] == "evaluated"]
        for event in tests:
            note_epoch(self._epochs, event)
        for task, reader in enumerate(self._readers):
            for block in map(self._present(task), reader.poll()):
                self.curves.add(block, task)
                if block.replaces:
                    self._read_again(block.first_step, task)
        return bool(events or tests)

    def _note_worker_counts(self, events: list[Event]) -> None:
        """Drop steps that a resume does again with fewer workers; with more, read all again."""
        worker_counts = worker_counts_of(events)
        self._worker_counts += worker_counts
        if worker_counts and max(workers for _, workers in worker_counts) > len(self._task_dirs):
            self._open(max(workers for _, workers in worker_counts))
            return
        for first, workers in worker_counts if self._plan.synchronous else ():
            self.curves.worker_counts = self._worker_counts
            for task in range(workers, len(self._task_dirs)):
                self.curves.drop(first, task)
                self._read_again(first, task)

    def _present(self, task: int) -> Callable[[Block], Block]:
        """Return a function that cuts a block at its first step without this worker."""

        def cut(block: Block) -> Block:
            if not (self._plan.synchronous and self._worker_counts):
                return block
            steps = np.arange(block.first_step, block.first_step + len(block.values))
            absent = np.flatnonzero(task >= workers_at(self._worker_counts, steps))
            return block.head(int(absent[0])) if len(absent) else block

        return cut

    def _curves(self, *shape: int) -> Curves:
        tasks, synchronous = len(self._task_dirs), self._plan.synchronous
        curves = Curves(self._plan.local_replicas, *shape, tasks=tasks, synchronous=synchronous)
        curves.worker_counts = self._worker_counts
        return curves

    def _read_again(self, first_step: int, task: int) -> None:
        """Read again the steps before `first_step` that belong to the same point."""
        start = first_step // self.curves.width * self.curves.width
        for block in self._read(task, start, first_step - 1):
            self.curves.add(block, task)

    def _read(self, task: int, first: int, last: int) -> Iterator[Block]:
        replicas, total = self._plan.local_replicas, self._plan.total_steps
        blocks = read_range(self._task_dirs[task], replicas, first, last, total)
        return map(self._present(task), blocks)

    def points(self) -> Points:
        """Return the curves of the complete run."""
        return self.curves.points()

    def epochs(self) -> EpochPoints:
        """Return the ends of epochs; an epoch that a resume did again has its newer values."""
        rows = self.epoch_rows()
        names = ("step", "loss", "accuracy", "test_loss", "test_accuracy")
        numbers = {name: column_of(rows, name) for name in names}
        return EpochPoints(**numbers, metrics=metric_columns(rows))

    def epoch_rows(self) -> list[dict[str, Any]]:
        """Return the epoch events in order."""
        return [self._epochs[number] for number in sorted(self._epochs)]

    def closer(self, window: Window) -> Points:
        """Return a part of the run in more detail, read again: single steps if they fit.

        The part is widened to full points of `points`, so that the totals before it are known.
        """
        coarse = self.curves.width
        first = max(0, window.first_step) // coarse * coarse
        steps = max(1, -(-(window.last_step + 1 - first) // coarse) * coarse)
        width = -(-steps // max(1, min(window.most_points, MOST_POINTS)))
        part = self._curves(-(-steps // width), first, width)
        for task in range(len(self._task_dirs)):
            for block in self._read(task, first, first + steps - 1):
                part.add(block, task)
        return part.points().after(*self.curves.before(first // coarse))


def _ever(run_dir: Path, workers: int) -> list[str]:
    """Return a run's workers, including workers that it had before a resume with fewer."""
    numbers = [int(path.name[7:]) for path in run_dir.glob("worker-*") if path.name[7:].isdigit()]
    return [f"worker-{number}" for number in range(max([workers - 1, *numbers]) + 1)]
