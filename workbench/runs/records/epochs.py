"""The results of a run's epochs, as columns, and the values in their events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.runs.folder.events import Event

from .arrays import TaskRecords, shared_steps, steps_with
from .step_files import Doubles

Columns = dict[str, npt.NDArray[Any]]


def epoch_columns(tasks: Sequence[TaskRecords], tests: dict[int, dict[str, Any]]) -> Columns:
    """Return an entry for each epoch that is over: recorded completely, or reported by an event.

    loss and accuracy are weighted by examples over `steps`, the recorded steps of the epoch.
    seconds are the time of its training calls, NaN if some are unknown. `tests` holds the epoch
    events by epoch, with test_loss and test_accuracy. The metrics that a custom model was compiled
    with follow as columns by their names; metrics of the test are named `test_...`.
    """
    if tasks and not tasks[0].shape.synchronous:
        return _own_epochs(tasks, tests)
    shared, picked = shared_steps(tasks)
    per_epoch = tasks[0].shape.steps_per_epoch if tasks else 1
    epoch = shared // per_epoch
    count = max([0, *tests, *(epoch[-1:] + 1).tolist()])
    sums = np.zeros((3, count))
    for task, (own, at) in zip(tasks, picked, strict=True):
        totals = task.values[own].sum(axis=1, dtype=np.float64)
        sums += [np.bincount(epoch[at], column, minlength=count) for column in totals.T]
    steps = np.bincount(epoch, minlength=count)
    over = np.flatnonzero((steps == per_epoch) | np.isin(np.arange(1, count + 1), list(tests)))
    ends = [tests.get(number + 1, {}) for number in over.tolist()]
    columns = {
        "epoch": over + 1,
        "loss": ratio(sums[0], sums[2])[over],
        "accuracy": ratio(sums[1], sums[2])[over],
        "test_loss": column_of(ends, "test_loss"),
        "test_accuracy": column_of(ends, "test_accuracy"),
        "examples": sums[2].astype(np.int64)[over],
        "seconds": _epoch_seconds(tasks, count)[over],
        "steps": steps[over],
    }
    return _with_metrics(columns, ends)


def _own_epochs(tasks: Sequence[TaskRecords], tests: dict[int, dict[str, Any]]) -> Columns:
    """Return the columns if each worker counts its own steps.

    steps is the sum over all workers; seconds is the time of the slowest worker.
    """
    count = max([0, *tests])
    sums, steps, seconds = np.zeros((3, count)), np.zeros(count, np.int64), np.zeros(count)
    for task in tasks:
        epoch = task.epochs_of(task.steps)
        inside = epoch < count
        totals = task.values[inside].sum(axis=1, dtype=np.float64)
        sums += [np.bincount(epoch[inside], column, minlength=count) for column in totals.T]
        steps += np.bincount(epoch[inside], minlength=count)
        call_epoch = task.epochs_of(task.calls[:, 0])
        known = call_epoch < count
        own = np.bincount(call_epoch[known], task.calls[known, 3], minlength=count)
        seconds = np.maximum(seconds, own)
    ends = [tests.get(number + 1, {}) for number in range(count)]
    columns = {
        "epoch": np.arange(1, count + 1),
        "loss": ratio(sums[0], sums[2]),
        "accuracy": ratio(sums[1], sums[2]),
        "test_loss": column_of(ends, "test_loss"),
        "test_accuracy": column_of(ends, "test_accuracy"),
        "examples": sums[2].astype(np.int64),
        "seconds": seconds,
        "steps": steps,
    }
    return _with_metrics(columns, ends)


def _with_metrics(columns: Columns, ends: list[Event]) -> Columns:
    """Add the model's own metrics; they replace unknown values, such as the accuracy."""
    metrics = metric_columns(ends)
    known = {name: values for name, values in columns.items() if name in metrics}
    filled = {name: np.where(np.isnan(v), metrics[name], v) for name, v in known.items()}
    return columns | metrics | filled


def _epoch_seconds(tasks: Sequence[TaskRecords], count: int) -> Doubles:
    """Return the seconds of the slowest task; NaN if a participating worker's call is missing."""
    slowest = np.zeros(count)
    if not tasks:
        return slowest
    shape = tasks[0].shape
    in_epoch = shape.steps_per_epoch
    edges = np.arange(count + 1, dtype=np.int64) * in_epoch
    for task in tasks:
        epoch = (task.calls[:, 0] // in_epoch).astype(np.int64)
        inside = epoch < count
        seconds = np.bincount(epoch[inside], task.calls[inside, 3], minlength=count)
        steps = np.bincount(epoch[inside], task.calls[inside, 1], minlength=count)
        whole = steps == steps_with(task.worker, shape.worker_counts, edges)
        slowest = np.maximum(slowest, np.where(whole, seconds, np.nan))
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
