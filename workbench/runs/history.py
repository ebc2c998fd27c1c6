"""What a run has done: the steps and epochs on record, read from its folder each time."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from .events import Event, note_epoch, read_events
from .frames import epoch_frame, replica_frame, step_frame
from .presence import crews_of
from .progress import shape_of, steps_done
from .records import (
    Shape,
    TaskRecords,
    joined,
    missing_ranges,
    read_tasks,
    shared_steps,
    steady_rate,
)
from .segments import Doubles
from .staleness import read_staleness
from .tasks import EVALUATOR, leader_of, read_numbers, workers_of

MEASURES = ("loss", "accuracy", "test_loss", "test_accuracy")


class History:
    """The records of a run's workers, and the epochs that its tasks told of."""

    def __init__(self, run_dir: Path) -> None:
        self.dir = run_dir

    def replica_steps(self, columns: Sequence[str] | None) -> pd.DataFrame:
        """Return a row for each replica of each recorded step."""
        return replica_frame(self._records(), columns)

    def steps(self) -> pd.DataFrame:
        """Return a row for each step, over all replicas."""
        return step_frame(self._records())

    def epochs(self) -> pd.DataFrame:
        """Return a row for each epoch that is over."""
        return epoch_frame(self._records(), self._epoch_events())

    def staleness(self) -> pd.DataFrame:
        """Return how stale each step was, where workers do not wait for each other."""
        return read_staleness(self.dir, workers_of(read_numbers(self.dir)))

    def step_seconds(self) -> Doubles:
        """Return the seconds of each steady step, float64 [N], in order of steps.

        A step takes its call, with what lies between that and the next, over the call's steps, and
        where workers step together as long as the slowest of them. First calls, which may trace,
        are left out. Where workers count their own steps, one worker's come after another's.
        """
        tasks = self._records()
        spans = [task.of_call(task.steady_seconds() / task.calls[:, 1]) for task in tasks]
        if not tasks or not tasks[0].shape.together:
            seconds = joined(spans, np.empty(0))
        else:
            shared, picked = shared_steps(tasks)
            seconds = np.zeros(len(shared))
            for span, (own, at) in zip(spans, picked, strict=True):
                seconds[at] = np.maximum(seconds[at], span[own])
        known: Doubles = seconds[np.isfinite(seconds)]
        return known

    def missing(self) -> list[tuple[int, int]]:
        """Return ranges (first, last) of steps done but not recorded."""
        done = steps_done(self.dir, self._shape())  # told before the records are read: they grow
        return missing_ranges(self._records(), done)

    def measures(self) -> dict[str, float | None]:
        """Return steps, steady rate and what the last epoch came to; None is unknown."""
        tasks = self._records()
        last = epoch_frame(tasks, self._epoch_events())[list(MEASURES)].tail(1)
        measures: dict[str, float | None] = {
            "steps": steps_done(self.dir, self._shape()),
            "examples_per_second": steady_rate(tasks),
            **dict.fromkeys(MEASURES),
        }
        for name in MEASURES:
            with contextlib.suppress(IndexError):
                value = float(last[name].iloc[0])
                measures[name] = value if abs(value) < float("inf") else None
        return measures

    def _shape(self) -> Shape:
        shape = shape_of(read_numbers(self.dir))
        events = read_events(self.dir / leader_of(self.dir) / "events.jsonl")
        return replace(shape, crews=crews_of(events))

    def _records(self) -> list[TaskRecords]:
        ends: dict[str, list[int]] = {}
        for _, event in sorted(self._epoch_events().items()):
            for worker, steps in event.get("worker_steps", {}).items():
                ends.setdefault(worker, []).append(steps)
        return read_tasks(self.dir, self._shape(), ends)

    def _epoch_events(self) -> dict[int, Event]:
        """Return the newest event of each epoch, less those a resume does again."""
        epochs: dict[int, Event] = {}
        for task in (leader_of(self.dir), EVALUATOR):
            for event in read_events(self.dir / task / "events.jsonl"):
                if task != EVALUATOR or event["event"] == "evaluated":
                    note_epoch(epochs, event)
        return epochs
