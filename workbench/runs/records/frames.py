"""The records of a run as pandas frames.

On disk a replica-step takes 12 bytes and a call 32. In memory a row of `replica_frame` takes 32
bytes: step 8, epoch 4, worker 2, replica 2, loss 4, accuracy 4, examples 4, call_seconds 4; each
other number that steps reported takes 4 more, in both. With `columns`, only the requested columns
are made. The 12 bytes that are read for each replica-step come in addition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from workbench.runs.folder.files import FIRST_STEP, RunError

from .arrays import TaskRecords, joined, scalar_columns, shared_steps
from .epochs import epoch_columns, ratio
from .step_files import Doubles, Ints

REPLICA_COLUMNS = (
    "step",
    "epoch",
    "worker",
    "replica",
    "loss",
    "accuracy",
    "examples",
    "call_seconds",
)


def replica_frame(
    tasks: Sequence[TaskRecords], columns: Sequence[str] | None = None
) -> pd.DataFrame:
    """Return a row for each replica of each recorded step, in order of step, worker, replica.

    step: from 1, int64. epoch: from 1. worker, replica: numbers; replicas are numbered over all
    workers. loss, accuracy: means over the replica's examples; NaN if it had none or the model has
    no accuracy. examples: a count. call_seconds: the time of the complete call that contained the
    step, the same for all its steps; NaN if unknown.

    The other numbers that steps reported follow by their names, see `scalar_columns`: as the step
    returned them, or as means of what it gave to a metric. They are NaN if a step did not report
    them.

    Two more columns are made only if `columns` names them. time: seconds since 1970 at which the
    step ended; all steps of a call are assumed to take the same time. examples_per_second: the
    replica's own examples of the call, divided by the call's time. Both are NaN if unknown.

    Raises:
        RunError: a column has none of these names.
    """
    scalars = scalar_columns(tasks)
    makers = _COLUMNS | {column: _scalar(name) for column, name in scalars.items()}
    wanted = _chosen(columns, (*REPLICA_COLUMNS, *scalars), makers)
    parts = [{name: makers[name](task) for name in wanted} for task in tasks]
    frame = pd.DataFrame(
        {name: joined([part[name] for part in parts], np.empty(0)) for name in wanted}, copy=False
    )
    if len(tasks) < 2:
        return frame
    steps = np.concatenate([_COLUMNS["step"](task) for task in tasks])
    return frame.iloc[np.argsort(steps, kind="stable")].reset_index(drop=True)


def step_frame(tasks: Sequence[TaskRecords], columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Return a row for each step that every task recorded, over all replicas.

    step is from 1. If workers count their own steps, there is no common step. Then there is a row
    for each step of each worker, with a column `worker`.

    loss, accuracy and the other numbers that steps reported are weighted by examples; call_seconds
    is the slowest task's. examples_per_second is the sum over the tasks of a task's examples of the
    call, divided by the time that the call took in that task. With `columns`, only these columns
    are made.

    Raises:
        RunError: a column has none of these names.
    """
    scalars = scalar_columns(tasks)
    usual = (*_STEP_COLUMNS, *scalars)
    if not tasks or tasks[0].shape.synchronous:
        return _joined_steps(tasks, _chosen(columns, usual, usual), scalars)
    every = (*usual, "worker")
    wanted = _chosen(columns, every, every)
    made = [name for name in dict.fromkeys(("step", *wanted)) if name != "worker"]
    frames = [_joined_steps([task], made, scalars).assign(worker=task.worker) for task in tasks]
    return pd.concat(frames).sort_values(["step", "worker"], ignore_index=True)[wanted]


class _Steps:
    """The steps that all tasks recorded, [N]; a value over all replicas is made when requested."""

    def __init__(self, tasks: Sequence[TaskRecords]) -> None:
        self.tasks = tasks
        self.steps, self._picked = shared_steps(tasks)

    def sums(self, measure: int) -> Doubles:
        """Return the sum of a value of the records over all replicas; see `TaskRecords.values`."""
        return self._joined(
            np.add, lambda task: task.values[..., measure].sum(axis=1, dtype=np.float64)
        )

    def means(self, measure: int) -> Doubles:
        """Return the mean of a value over all examples."""
        return ratio(self.sums(measure), self.sums(2))

    def scalars(self, name: str) -> Doubles:
        """Return the mean of another number over the examples of the replicas that reported it."""
        known = {task.worker: task.scalar_sums(name) for task in self.tasks}
        sums = self._joined(np.add, lambda task: known[task.worker][0])
        counts = self._joined(np.add, lambda task: known[task.worker][1])
        return ratio(sums, counts)

    def seconds(self) -> Doubles:
        """Return the time of the step's call in the slowest task."""
        return self._joined(np.maximum, lambda task: task.of_call(task.calls[:, 3]))

    def rates(self) -> Doubles:
        """Return the sum of the tasks' speeds in the step's call."""
        return self._joined(
            np.add, lambda task: task.of_call(ratio(task.call_examples, task.calls[:, 3]))
        )

    def epochs(self) -> npt.NDArray[np.int32]:
        """Return the epoch of each step, from 1."""
        return _epochs(self.steps, self.tasks[0]) if self.tasks else np.empty(0, np.int32)

    def _joined(self, ufunc: np.ufunc, values_of: Callable[[TaskRecords], Doubles]) -> Doubles:
        joined = np.zeros(len(self.steps))
        for task, (own, at) in zip(self.tasks, self._picked, strict=True):
            joined[at] = ufunc(joined[at], values_of(task)[own])
        return joined


_STEP_COLUMNS: dict[str, Callable[[_Steps], npt.NDArray[Any]]] = {
    "step": lambda steps: steps.steps + FIRST_STEP,
    "epoch": _Steps.epochs,
    "loss": lambda steps: steps.means(0),
    "accuracy": lambda steps: steps.means(1),
    "examples": lambda steps: steps.sums(2).astype(np.int64),
    "call_seconds": _Steps.seconds,
    "examples_per_second": _Steps.rates,
}


def _joined_steps(
    tasks: Sequence[TaskRecords], columns: Sequence[str], scalars: Mapping[str, str]
) -> pd.DataFrame:
    steps = _Steps(tasks)
    return pd.DataFrame(
        {
            name: steps.scalars(scalars[name]) if name in scalars else _STEP_COLUMNS[name](steps)
            for name in columns
        },
        copy=False,
    )


def _scalar(name: str) -> Callable[[TaskRecords], npt.NDArray[Any]]:
    return lambda task: task.scalar(name).reshape(-1)


def _chosen(columns: Sequence[str] | None, usual: Iterable[str], known: Iterable[str]) -> list[str]:
    """Return the columns to make.

    Raises:
        RunError: a column is not known.
    """
    names, wanted = list(known), list(usual if columns is None else columns)
    for name in wanted:
        if name not in names:
            raise RunError(
                f"There is no column {name!r}. Leave it out, or choose from {', '.join(names)}."
            )
    return wanted


def epoch_frame(tasks: Sequence[TaskRecords], tests: dict[int, dict[str, Any]]) -> pd.DataFrame:
    """Return a row for each epoch that is over; see `epochs.epoch_columns`."""
    return pd.DataFrame(epoch_columns(tasks, tests), copy=False)


def _epochs(steps: Ints, task: TaskRecords) -> npt.NDArray[np.int32]:
    return (task.epochs_of(steps) + 1).astype(np.int32)


def _spread(task: TaskRecords, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.repeat(values, task.shape.replicas)


def _replicas(task: TaskRecords) -> npt.NDArray[Any]:
    first = task.worker * task.shape.replicas
    numbers = np.arange(first, first + task.shape.replicas, dtype=np.int16)
    return np.tile(numbers, len(task.steps))


def _rates(task: TaskRecords) -> Doubles:
    """Return each replica's own speed in the call of each step, float64 [N * replicas]."""
    replicas, calls = task.shape.replicas, len(task.calls)
    known = task.call_of_step >= 0
    call = task.call_of_step[known]
    whole = np.bincount(call, minlength=calls) == task.calls[:, 1]
    rates = np.full((calls + 1, replicas), np.nan)
    for replica in range(replicas):
        sums = np.bincount(call, task.values[known, replica, 2], minlength=calls)
        rates[:-1, replica] = np.where(whole, ratio(sums, task.calls[:, 3]), np.nan)
    return rates[task.call_of_step].reshape(-1)


_COLUMNS: dict[str, Callable[[TaskRecords], npt.NDArray[Any]]] = {
    "step": lambda task: _spread(task, task.steps + FIRST_STEP),
    "epoch": lambda task: _spread(task, _epochs(task.steps, task)),
    "worker": lambda task: np.full(task.values[..., 0].size, task.worker, np.int16),
    "replica": _replicas,
    "loss": lambda task: ratio(task.values[..., 0], task.values[..., 2]).reshape(-1),
    "accuracy": lambda task: ratio(task.values[..., 1], task.values[..., 2]).reshape(-1),
    "examples": lambda task: task.values[..., 2].astype(np.int32).reshape(-1),
    "call_seconds": lambda task: _spread(task, task.of_call(task.calls[:, 3]).astype(np.float32)),
    "time": lambda task: _spread(task, task.step_ends()),
    "examples_per_second": _rates,
}
