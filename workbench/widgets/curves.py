"""Step records, thinned as they arrive to about a thousand points a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from workbench.charts import Points

if TYPE_CHECKING:
    from workbench.runs import Block

MOST_POINTS = 1_000
LOSS_SUM, CORRECT, EXAMPLES = range(3)


class Curves:
    """One task's records so far, as sums over equal stretches of steps.

    A stretch is one step long until there are more than `most` of them; then neighbours are
    joined and a stretch is twice as long. So memory and drawing stay the same however long the
    run is, and each point is the exact mean of its recorded steps, weighted by examples.
    """

    def __init__(self, replicas: int, most: int = MOST_POINTS) -> None:
        self._most = most + most % 2
        self.width = 1
        self._sums = np.zeros((self._most, replicas, 3))
        self._steps = np.zeros(self._most, np.int64)
        self._seconds = np.zeros(self._most)
        self._timed = np.zeros(self._most, np.int64)
        self._end = np.zeros(self._most, np.int64)

    def add(self, block: Block) -> None:
        """Take in new records; a resumed run's replace those of the steps that it does again.

        Where a stretch holds both, only the newer steps of it count.
        """
        if not len(block.values):
            return
        steps = np.arange(block.first_step, block.first_step + len(block.values))
        self._make_room(int(steps[-1]))
        if block.replaces:
            self._drop_from(block.first_step // self.width)
        at = steps // self.width
        step_seconds = block.call_seconds / block.call_steps
        timed = np.isfinite(step_seconds)
        np.add.at(self._sums, at, block.values.astype(np.float64))
        np.add.at(self._steps, at, 1)
        np.add.at(self._seconds, at[timed], step_seconds[timed])
        np.add.at(self._timed, at[timed], 1)
        np.maximum.at(self._end, at, steps + 1)

    def points(self) -> Points:
        """Return what there is; steps that were not recorded are NaN between others."""
        there = np.flatnonzero(self._steps)
        if not len(there):
            return Points.none(self._sums.shape[1])
        used = slice(int(there[0]), int(there[-1]) + 1)
        steps = self._steps[used]
        sums = np.where(steps[:, None, None] > 0, self._sums[used], np.nan)
        joined = sums.sum(axis=1)
        end = np.where(
            steps > 0, self._end[used], (np.arange(used.start, used.stop) + 1) * self.width
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            seconds = steps * (self._seconds[used] / self._timed[used])
            examples, all_examples = sums[:, :, EXAMPLES], joined[:, EXAMPLES]
            return Points(
                step=end.astype(np.float64),
                loss=_finite(sums[:, :, LOSS_SUM] / examples),
                accuracy=_finite(sums[:, :, CORRECT] / examples),
                rate=_finite(examples / seconds[:, None]),
                mean_loss=_finite(joined[:, LOSS_SUM] / all_examples),
                mean_accuracy=_finite(joined[:, CORRECT] / all_examples),
                total_rate=_finite(all_examples / seconds),
                steps_a_point=self.width,
            )

    def _drop_from(self, at: int) -> None:
        for values in (self._sums, self._steps, self._seconds, self._timed, self._end):
            values[at:] = 0

    def _make_room(self, step: int) -> None:
        while step // self.width >= self._most:
            half = self._most // 2
            joined = (self._sums, self._steps, self._seconds, self._timed)
            for values in joined:
                values[:half] = values[0::2] + values[1::2]
                values[half:] = 0
            self._end[:half] = np.maximum(self._end[0::2], self._end[1::2])
            self._end[half:] = 0
            self.width *= 2


def _finite(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.where(np.isfinite(values), values, np.nan)
