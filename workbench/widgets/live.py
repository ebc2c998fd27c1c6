"""A run's records and epochs, read while they grow, each byte once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.charts import EpochPoints
from workbench.runs import StepReader
from workbench.runs.directory import TASK
from workbench.runs.events import EventTail, note_epoch

from .curves import Curves

if TYPE_CHECKING:
    from workbench.charts import Points
    from workbench.runs import Run


class LiveRun:
    """Follows one run from its beginning; `poll` says whether there is anything new."""

    def __init__(self, run: Run) -> None:
        replicas = run.plan.local_replicas
        self._steps = StepReader(run.dir / TASK, replicas)
        self._events = EventTail(run.dir / TASK / "events.jsonl")
        self._curves = Curves(replicas)
        self._epochs: dict[int, dict[str, Any]] = {}

    def poll(self) -> bool:
        """Read what is new; return whether anything was."""
        blocks = self._steps.poll()
        for block in blocks:
            self._curves.add(block)
        events = self._events.poll()
        for event in events:
            note_epoch(self._epochs, event)
        return bool(blocks or events)

    def points(self) -> Points:
        return self._curves.points()

    def epochs(self) -> EpochPoints:
        """Return the ends of epochs, those that a resumed run did again in their newer form."""
        rows = [self._epochs[number] for number in sorted(self._epochs)]
        names = ("step", "loss", "accuracy", "test_loss", "test_accuracy")
        return EpochPoints(*(_column(rows, name) for name in names))

    def epoch_rows(self) -> list[dict[str, Any]]:
        """Return the epoch events in order."""
        return [self._epochs[number] for number in sorted(self._epochs)]


def _column(rows: list[dict[str, Any]], name: str) -> Any:
    values = [row.get(name) for row in rows]
    return np.array([np.nan if value is None else value for value in values], np.float64)
