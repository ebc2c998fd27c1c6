"""The results of a run's epochs, as columns, and the values in their events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.runs.folder.events import Event

from .arrays import TaskRecords, scalar_columns, shared_steps, steps_with
from .step_files import Doubles

Columns = dict[str, npt.NDArray[Any]]


def epoch_columns(tasks: Sequence[TaskRecords], tests: dict[int, dict[str, Any]]) -> Columns:
    """Return an entry for each epoch that is over: recorded completely, or reported by an event.

    loss and accuracy are weighted by examples over `steps`, the recorded steps of the epoch, of all
    workers if each counts its own. seconds are the time of its training calls in the slowest
    worker, NaN if some are unknown. `tests` holds the epoch events by epoch, with test_loss and
    test_accuracy. The metrics that a custom model was compiled with follow as columns by their
    names; metrics of the test are named `test_...`. So do other numbers that steps reported, as
    means over the examples.
    """
    synchronous = not tasks or tasks[0].shape.synchronous
    picked = shared_steps(tasks)[1] if synchronous else [(slice(None),) * 2] * len(tasks)
    owned = [own for own, _ in picked]
    epochs = [task.epochs_of(task.steps[own]) for task, own in zip(tasks, owned, strict=True)]
    begun = [int(epoch[-1]) + 1 for epoch in epochs if len(epoch)] if synchronous else []
    count = max([0, *tests, *begun])

    def summed(values: Sequence[npt.NDArray[Any]]) -> Doubles:
        """Return the sums over each epoch of a value of every task's steps."""
        sums = np.zeros(count)
        for own, epoch, each in zip(owned, epochs, values, strict=True):
            inside = epoch < count
            sums += np.bincount(epoch[inside], each[own][inside], minlength=count)
        return sums

    totals = [task.values.sum(axis=1, dtype=np.float64) for task in tasks]
    loss, correct, examples = (summed([total[:, at] for total in totals]) for at in range(3))
    counts = [np.bincount(epoch[epoch < count], minlength=count) for epoch in epochs]
    steps = (np.max if synchronous else np.sum)([np.zeros(count, np.int64), *counts], axis=0)
    reported = np.isin(np.arange(1, count + 1), list(tests))
    whole = steps == tasks[0].shape.steps_per_epoch if synchronous and tasks else not synchronous
    over = np.flatnonzero(reported | whole)
    ends = [tests.get(number + 1, {}) for number in over.tolist()]
    columns = {
        "epoch": over + 1,
        "loss": ratio(loss, examples)[over],
        "accuracy": ratio(correct, examples)[over],
        "test_loss": column_of(ends, "test_loss"),
        "test_accuracy": column_of(ends, "test_accuracy"),
        "examples": examples.astype(np.int64)[over],
        "seconds": _epoch_seconds(tasks, count)[over],
        "steps": steps[over],
    }
    columns = _with_metrics(columns, ends)
    for column, name in scalar_columns(tasks).items():
        known = [task.scalar_sums(name) for task in tasks]
        total, known_for = (summed([each[at] for each in known]) for at in range(2))
        mean = ratio(total, known_for)[over]
        measured = columns.get(column, np.full(len(over), np.nan))
        columns[column] = np.where(np.isnan(measured), mean, measured)
    return columns


def _with_metrics(columns: Columns, ends: list[Event]) -> Columns:
    """Add the model's own metrics; they replace unknown values, such as the accuracy."""
    metrics = metric_columns(ends)
    known = {name: values for name, values in columns.items() if name in metrics}
    filled = {name: np.where(np.isnan(v), metrics[name], v) for name, v in known.items()}
    return columns | metrics | filled


def _epoch_seconds(tasks: Sequence[TaskRecords], count: int) -> Doubles:
    """Return the seconds of the slowest task; NaN if a participating worker's call is missing."""
    slowest = np.zeros(count)
    for task in tasks:
        epoch = task.epochs_of(task.calls[:, 0])
        inside, shape = epoch < count, task.shape
        seconds = np.bincount(epoch[inside], task.calls[inside, 3], minlength=count)
        if shape.synchronous:
            steps = np.bincount(epoch[inside], task.calls[inside, 1], minlength=count)
            edges = np.arange(count + 1, dtype=np.int64) * shape.steps_per_epoch
            whole = steps == steps_with(task.worker, shape.worker_counts, edges)
            seconds = np.where(whole, seconds, np.nan)
        slowest = np.maximum(slowest, seconds)
    return slowest


def ratio(sums: npt.NDArray[Any], counts: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return sums / counts; NaN where the count is 0."""
    found: npt.NDArray[Any] = np.full_like(sums, np.nan)
    np.divide(sums, counts, out=found, where=counts > 0)
    return found


def column_of(events: Sequence[Event], name: str) -> Doubles:
    """Return the value of each event under a name; NaN if it is unknown."""
    values = [event.get(name) for event in events]
    return np.array([np.nan if value is None else value for value in values], np.float64)


def metric_columns(epochs: Sequence[Event]) -> dict[str, Doubles]:
    """Return the metrics that a custom model was compiled with, [epochs], train next to test.

    Metrics that the workbench records itself, such as a known accuracy, are left out.
    """
    metrics = [epoch.get("metrics", {}) for epoch in epochs]
    recorded = {name for epoch in epochs for name, value in epoch.items() if value is not None}
    names = list(dict.fromkeys(name for each in metrics for name in each if name not in recorded))
    trained = {f"test_{name}": name for name in names}
    beside = sorted(names, key=lambda name: names.index(trained.get(name, name)))
    return {name: column_of(metrics, name) for name in beside}
