"""The points of a run's curves: what a reader thins its records to, and what charts draw."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Curve:
    """One measure, point by point; a gap is NaN, never zero.

    Where a point stands for several steps, `mean` is their mean weighted by examples (of a speed,
    their examples over their time), `low` and `high` the least and the greatest of single steps.
    """

    mean: Values
    """[points, replicas]"""
    joined: Values
    """[points], over all replicas: the mean weighted by examples; of a speed, the sum."""
    low: Values
    """[points, replicas]"""
    high: Values
    """[points, replicas]"""


@dataclass(frozen=True)
class Points:
    """The curves of a run; each point stands for `steps_a_point` steps.

    `step`, `examples` and `training_seconds` are [points]: completed global steps, examples of all
    replicas up to there, and the time that the calls up to there took. `rate` is in examples a
    second, over the call's time. `nonfinite` is [points, replicas]: a loss that is no number, which
    is a gap in the curves.
    """

    step: Values
    examples: Values
    training_seconds: Values
    loss: Curve
    accuracy: Curve
    rate: Curve
    nonfinite: npt.NDArray[np.bool_]
    steps_a_point: int = 1
    workers: int = 1
    """Processes that the replicas are in, the same number in each."""
    synchronous: bool = True
    """Whether all replicas take a step together; else steps and examples are each worker's own."""

    @property
    def replicas(self) -> int:
        return int(self.loss.mean.shape[1])

    @property
    def curves(self) -> tuple[Curve, Curve, Curve]:
        """Loss, accuracy, rate."""
        return self.loss, self.accuracy, self.rate

    @classmethod
    def none(cls, replicas: int, workers: int = 1, *, synchronous: bool = True) -> Points:
        """Return no points yet, for a run of so many replicas."""
        line, lines = np.empty(0), np.empty((0, replicas))
        curve = Curve(lines, line, lines, lines)
        return cls(line, line, line, curve, curve, curve, np.empty((0, replicas), np.bool_),
                   workers=workers, synchronous=synchronous)  # fmt: skip

    def after(self, examples: float, training_seconds: float) -> Points:
        """Return the same of a run that had done and taken so much before."""
        return replace(
            self,
            examples=self.examples + examples,
            training_seconds=self.training_seconds + training_seconds,
        )


@dataclass(frozen=True)
class EpochPoints:
    """The numbers at the end of each epoch; each is [epochs], NaN where it is not known."""

    step: Values = field(default_factory=lambda: np.empty(0))
    loss: Values = field(default_factory=lambda: np.empty(0))
    accuracy: Values = field(default_factory=lambda: np.empty(0))
    test_loss: Values = field(default_factory=lambda: np.empty(0))
    test_accuracy: Values = field(default_factory=lambda: np.empty(0))
    metrics: dict[str, Values] = field(default_factory=dict)
    """What a model of one's own was compiled with beside them; of the test as `test_...`."""
