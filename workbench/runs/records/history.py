"""The recorded steps and epochs of a run, read from its folder each time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.plan.plan import EVALUATOR, Plan
from workbench.runs.folder.clocks import task_events
from workbench.runs.folder.events import Event, note_epoch, read_events
from workbench.runs.folder.files import FIRST_STEP
from workbench.runs.folder.plan import read_plan
from workbench.runs.folder.state import since_start, supervisor_events

from .arrays import (
    Shape,
    TaskRecords,
    epoch_ends_of,
    joined,
    missing_ranges,
    read_tasks,
    scalar_columns,
    shared_steps,
    worker_counts_of,
)
from .progress import steps_done
from .speed import steady_rate
from .step_files import Doubles

if TYPE_CHECKING:
    import pandas as pd

RESULTS = ("loss", "accuracy", "test_loss", "test_accuracy")


class History:
    """The records of a run's workers, and the epochs that its tasks reported.

    An instance reads each value once and keeps it. Create a new instance to read again later.
    """

    def __init__(self, run_dir: Path) -> None:
        self.dir = run_dir

    def replica_steps(self, columns: Sequence[str] | None) -> pd.DataFrame:
        """Return a row for each replica of each recorded step."""
        from .frames import replica_frame

        return replica_frame(self._records(), columns)

    def steps(self, columns: Sequence[str] | None) -> pd.DataFrame:
        """Return a row for each step, over all replicas."""
        from .frames import step_frame

        return step_frame(self._records(), columns)

    def scalars(self) -> tuple[str, ...]:
        """Return the columns of the other numbers that steps reported."""
        return tuple(scalar_columns(self._records()))

    def epochs(self) -> pd.DataFrame:
        """Return a row for each epoch that is over."""
        from .frames import epoch_frame

        return epoch_frame(self._records(), self._epoch_events)

    def staleness(self) -> pd.DataFrame:
        """Return the staleness of each step, if workers do not wait for each other."""
        from .staleness import read_staleness

        return read_staleness(self.dir, self._plan.worker_tasks)

    def step_seconds(self) -> Doubles:
        """Return the seconds of each steady step, float64 [N], in order of steps.

        A step's time is its call and the gap until the next call, divided by the call's steps.
        If workers are synchronous, the slowest worker counts. First calls are left out, because
        they may trace. If workers count their own steps, the steps of each worker follow the
        steps of the worker before.
        """
        tasks = self._records()
        spans = [task.of_call(task.steady_seconds() / task.calls[:, 1]) for task in tasks]
        if not tasks or not tasks[0].shape.synchronous:
            seconds = joined(spans, np.empty(0))
        else:
            shared, picked = shared_steps(tasks)
            seconds = np.zeros(len(shared))
            for span, (own, at) in zip(spans, picked, strict=True):
                seconds[at] = np.maximum(seconds[at], span[own])
        known: Doubles = seconds[np.isfinite(seconds)]
        return known

    def missing(self) -> list[tuple[int, int]]:
        """Return ranges (first, last) of steps done but not recorded, from 1."""
        done = self.steps_done()  # counted before the records are read, because they grow
        ranges = missing_ranges(self._records(), done)
        return [(first + FIRST_STEP, last + FIRST_STEP) for first, last in ranges]

    def steady_rate(self) -> float | None:
        """Return the examples per second in the steady state; see `speed.steady_rate`."""
        return steady_rate(self._records())

    def steps_done(self) -> int:
        """Return how many steps were done, recorded or not."""
        attempt = since_start(self._leader_events, self._supervisor_events)
        return steps_done(self.dir, self._plan, attempt)

    @property
    def _plan(self) -> Plan:
        return read_plan(self.dir)

    @cached_property
    def _leader_events(self) -> list[Event]:
        return task_events(self.dir, self._plan.leader, self._supervisor_events)

    @cached_property
    def _supervisor_events(self) -> list[Event]:
        return supervisor_events(self.dir)

    def _records(self) -> list[TaskRecords]:
        ends = epoch_ends_of(event for _, event in sorted(self._epoch_events.items()))
        shape = Shape.of(self._plan, worker_counts_of(self._leader_events))
        return read_tasks(self.dir, shape, ends)

    @cached_property
    def _epoch_events(self) -> dict[int, Event]:
        """The newest event of each epoch, without the epochs that a resume does again."""
        return newest_epochs(self.dir, self._leader_events)


def last_results(run_dir: Path, leader_events: Sequence[Event]) -> dict[str, float | None]:
    """Return loss and accuracy of training and test of a run: of the last epoch that ended.

    Training counts all examples of the epoch, the test all test examples after it. An epoch ends
    with its test pass. None is unknown, for example before the first epoch has ended.
    """
    epochs = newest_epochs(run_dir, leader_events)
    last = epochs[max(epochs)] if epochs else {}
    known = {name: value for name, value in last.items() if value is not None}
    results = {**(last.get("metrics") or {}), **known}
    return {name: _number(results.get(name)) for name in RESULTS}


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and isfinite(value) else None


def newest_epochs(run_dir: Path, leader_events: Sequence[Event]) -> dict[int, Event]:
    """Return the newest event of each epoch, by its number, with the evaluator's results.

    Epochs that a resume does again are left out.
    """
    found = read_events(run_dir / EVALUATOR / "events.jsonl")
    evaluated = [event for event in found if event["event"] == "evaluated"]
    epochs: dict[int, Event] = {}
    for event in (*leader_events, *evaluated):
        note_epoch(epochs, event)
    return epochs
