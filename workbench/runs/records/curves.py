"""Step records, reduced as they arrive to about two thousand points a line."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from workbench.points import Curve, Points, Values

from .arrays import WorkerCounts, workers_at
from .reader import Block
from .step_files import Floats, Ints

MOST_POINTS = 2_000
LOSS_SUM, CORRECT, EXAMPLES = range(3)
MEASURES = 3
FEWEST_FOLDED = 4


class Curves:
    """The records of all workers so far, as sums, minima and maxima over equal stretches of steps.

    A stretch is `width` steps long. If there are more than `most` stretches, neighbours are joined
    and a stretch becomes twice as long. So memory and drawing stay the same however long the run
    is. Each point is the exact mean of its recorded steps, weighted by examples, and no peak is
    lost.
    """

    def __init__(
        self,
        replicas: int,
        most: int = MOST_POINTS,
        first_step: int = 0,
        width: int = 1,
        *,
        tasks: int = 1,
        synchronous: bool = True,
    ) -> None:
        """Start empty, for `tasks` workers with `replicas` replicas each.

        If they are not `synchronous`, step n is each worker's own n-th step, and there is no line
        over all workers.
        """
        self._replicas, self._tasks = replicas, tasks
        self._synchronous = synchronous
        self.worker_counts: WorkerCounts = ()
        """How many workers there were from which step on."""
        self._most = most + most % 2
        self.width = width
        self._first_step = first_step
        lines = self._most, tasks * replicas, MEASURES
        self._sums = np.zeros(lines)
        self._low = np.full(lines, np.nan)
        self._high = np.full(lines, np.nan)
        self._steps = np.zeros((self._most, tasks), np.int64)
        self._seconds = np.zeros((self._most, tasks))
        self._timed = np.zeros((self._most, tasks), np.int64)
        self._end = np.zeros((self._most, tasks), np.int64)
        self._changed: int | None = 0
        """The first stretch that `changes` has not reported; None if there is none."""
        self._past = 0, 0.0, 0.0
        """A stretch, with the examples and seconds before it, because they are often requested."""

    def add(self, block: Block, task: int = 0) -> None:
        """Add new records of a worker; a resumed run's records replace the steps done again.

        If a stretch holds both old and new steps, only its new steps count until the others are
        added.
        """
        if not len(block.values):
            return
        first = block.first_step - self._first_step
        steps = np.arange(first, first + len(block.values))
        self._make_room(int(steps[-1]))
        at = steps // self.width
        if block.replaces:
            self._drop_from(int(at[0]), task)
        starts = np.concatenate(([0], np.flatnonzero(at[1:] != at[:-1]) + 1))
        stops = np.concatenate((starts[1:], [len(steps)]))
        stretches = at[starts]
        step_seconds = block.call_seconds / block.call_steps
        timed = np.isfinite(step_seconds)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            sums = _reduced(np.add, block.values, starts, self.width, np.float64)
            self._sums[stretches, self._lines(task)] += sums
            self._span(stretches, starts, _measures(block.values, step_seconds), task)
        own = stretches, task
        self._steps[own] += stops - starts
        self._seconds[own] += np.add.reduceat(np.where(timed, step_seconds, 0.0), starts)
        self._timed[own] += np.add.reduceat(timed, starts, dtype=np.int64)
        self._end[own] = np.maximum(self._end[own], steps[stops - 1] + 1)
        self._note_change(int(at[0]))

    def changes(self) -> int | None:
        """Return the first point that changed since the last request; None if none changed."""
        changed, self._changed = self._changed, None
        return None if changed is None else max(0, changed - self._opening())

    def points(self, first: int = 0) -> Points:
        """Return the points from `first` on; steps between them that were not recorded are NaN."""
        there = np.flatnonzero(self._steps.any(axis=1))
        if not len(there):
            return Points.none(self._sums.shape[1], self._tasks, synchronous=self._synchronous)
        used = slice(int(there[0]) + first, int(there[-1]) + 1)
        examples_before, seconds_before = self.before(used.start)
        steps = self._steps[used]
        recorded = np.repeat(steps > 0, self._replicas, axis=1)
        sums = np.where(recorded[..., None], self._sums[used], np.nan)
        gap_end = np.arange(used.start + 1, used.stop + 1) * self.width
        end = np.where(steps.any(axis=1), self._end[used].max(axis=1), gap_end) + self._first_step
        with np.errstate(divide="ignore", invalid="ignore"):
            seconds = steps * (self._seconds[used] / self._timed[used])
            mean, nonfinite = _means(sums, np.repeat(seconds, self._replicas, axis=1))
            joined, _ = _means(self._sums[used].sum(axis=1), np.fmax.reduce(seconds, axis=1))
        joined = np.where(self._whole(used)[:, None], joined, np.nan)
        spoilt = np.isnan(mean)
        low, high = (np.where(spoilt, np.nan, part[used]) for part in (self._low, self._high))
        loss, accuracy, rate = (
            Curve(mean[..., at], joined[..., at], low[..., at], high[..., at])
            for at in range(MEASURES)
        )
        return Points(
            step=end.astype(np.float64),
            examples=examples_before + self._examples(used).cumsum(),
            training_seconds=seconds_before + self._seconds[used].max(axis=1).cumsum(),
            loss=loss,
            accuracy=accuracy,
            rate=rate,
            nonfinite=nonfinite,
            steps_a_point=self.width,
            workers=self._tasks,
            synchronous=self._synchronous,
        )

    def before(self, stretch: int) -> tuple[float, float]:
        """Return the examples and the training seconds before a stretch.

        If workers are asynchronous, the examples of one worker are returned.
        """
        known, examples, seconds = self._past
        if known > stretch:
            known, examples, seconds = 0, 0.0, 0.0
        examples += float(self._examples(slice(known, stretch)).sum())
        seconds += float(self._seconds[known:stretch].max(axis=1).sum())
        self._past = stretch, examples, seconds
        return examples, seconds

    def drop(self, first_step: int, task: int) -> None:
        """Drop a worker's records, from the stretch that contains `first_step` on."""
        at = max(0, first_step - self._first_step) // self.width
        if at < self._most:
            self._drop_from(at, task)

    def _whole(self, used: slice) -> npt.NDArray[np.bool_]:
        """Return where all workers of a stretch have recorded the same number of steps."""
        steps = self._steps[used]
        ends = np.arange(used.start + 1, used.stop + 1) * self.width + self._first_step - 1
        here = np.arange(steps.shape[1]) < workers_at(self.worker_counts, ends)[:, None]
        whole = ((steps == steps[:, :1]) | ~here).all(axis=1)
        return np.asarray(whole & self._synchronous)

    def _lines(self, task: int) -> slice:
        return slice(task * self._replicas, (task + 1) * self._replicas)

    def _examples(self, stretches: slice) -> Values:
        examples: Values = self._sums[stretches, :, EXAMPLES]
        return np.asarray(examples.sum(axis=1) if self._synchronous else examples.max(axis=1))

    def _span(self, stretches: Ints, starts: Ints, measures: Floats, task: int) -> None:
        low = _reduced(np.fmin, measures, starts, self.width)
        high = _reduced(np.fmax, measures, starts, self.width)
        own = stretches, self._lines(task)
        self._low[own] = np.fmin(self._low[own], low)
        self._high[own] = np.fmax(self._high[own], high)

    def _opening(self) -> int:
        """Return the first stretch with a record."""
        return int(np.argmax(self._steps.any(axis=1)))

    def _note_change(self, stretch: int) -> None:
        self._changed = stretch if self._changed is None else min(self._changed, stretch)
        if stretch < self._past[0]:
            self._past = 0, 0.0, 0.0

    def _drop_from(self, at: int, task: int) -> None:
        lines = self._lines(task)
        for values in (self._steps, self._seconds, self._timed, self._end):
            values[at:, task] = 0
        self._sums[at:, lines] = 0
        self._low[at:, lines] = self._high[at:, lines] = np.nan
        self._note_change(at)

    def _make_room(self, step: int) -> None:
        while step // self.width >= self._most:
            half = self._most // 2
            for values in (self._sums, self._steps, self._seconds, self._timed):
                values[:half] = values[0::2] + values[1::2]
                values[half:] = 0
            self._end[:half] = np.maximum(self._end[0::2], self._end[1::2])
            self._end[half:] = 0
            self._low[:half] = np.fmin(self._low[0::2], self._low[1::2])
            self._high[:half] = np.fmax(self._high[0::2], self._high[1::2])
            self._low[half:] = self._high[half:] = np.nan
            self.width *= 2
            self._note_change(0)


def _reduced(
    ufunc: np.ufunc, values: Floats, starts: Ints, width: int, dtype: type | None = None
) -> Values:
    """Return `ufunc.reduceat(values, starts)`; all stretches except the ends have `width` rows.

    It combines the two halves of the rows until one row is left. With few columns that takes a
    sixth of the time of `reduceat`.
    """
    if len(starts) < FEWEST_FOLDED or width == 1:
        return np.asarray(ufunc.reduceat(values, starts, axis=0, dtype=dtype))
    rows = values[starts[1] : starts[-1]].reshape(-1, width, *values.shape[1:])
    while (count := rows.shape[1]) > 1:
        half = count // 2
        folded = ufunc(rows[:, :half], rows[:, half : 2 * half], dtype=dtype)
        if count % 2:
            ufunc(folded[:, 0], rows[:, -1], out=folded[:, 0])
        rows = folded
    ends = (values[: starts[1]], values[starts[-1] :])
    first, last = (ufunc.reduce(part, axis=0, keepdims=True, dtype=dtype) for part in ends)
    return np.concatenate((first, rows[:, 0], last))


def _measures(values: Floats, step_seconds: Values) -> Floats:
    """Return loss, accuracy and speed of each step, [steps, replicas, 3]; NaN if unknown."""
    measures = np.empty_like(values)
    examples = np.where(values[..., EXAMPLES] > 0, values[..., EXAMPLES], np.nan)
    np.divide(values[..., LOSS_SUM], examples, out=measures[..., 0])
    np.divide(values[..., CORRECT], examples, out=measures[..., 1])
    np.divide(examples, step_seconds[:, None], out=measures[..., 2], casting="same_kind")
    return measures


def _means(sums: Values, seconds: Values) -> tuple[Values, npt.NDArray[np.bool_]]:
    """Return loss, accuracy and speed of sums [..., 3], and where the loss is not finite."""
    examples = sums[..., EXAMPLES]
    means = sums / np.stack([examples, examples, seconds + 0 * examples], axis=-1)
    finite = np.isfinite(means)
    return np.where(finite, means, np.nan), ~finite[..., LOSS_SUM] & (examples > 0)
