"""The points of a run's curves: a reader makes them from the records, and charts draw them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Curve:
    """One measure, point by point; a gap is NaN, never zero.

    If a point stands for several steps, `mean` is their mean weighted by examples. For a speed,
    `mean` is their examples divided by their time. `low` and `high` are the least and the greatest
    value of a single step.
    """

    mean: Values
    """[points, replicas]"""
    joined: Values
    """[points], over all replicas: the mean weighted by examples; for a speed, the sum."""
    low: Values
    """[points, replicas]"""
    high: Values
    """[points, replicas]"""


@dataclass(frozen=True)
class Lines:
    """The lines of a run among other runs: one over all replicas; a gap is NaN.

    If workers are asynchronous, no such line exists, and each replica has one.
    """

    step: Values
    """[points], as in `Points`, like the next two."""
    examples: Values
    training_seconds: Values
    loss: Values
    """[lines, points], like the next two."""
    accuracy: Values
    rate: Values
    """In examples per second."""
    steps_a_point: int
    synchronous: bool


@dataclass(frozen=True)
class Points:
    """The curves of a run; each point stands for `steps_a_point` steps.

    `step`, `examples` and `training_seconds` are [points]. `step` is the number of completed global
    steps. `examples` is the number of examples of all replicas up to that step. `training_seconds`
    is the time of all calls up to that step. `rate` is in examples per second, over the time of
    the call. `nonfinite` is [points, replicas]: whether the loss is not finite, which is a gap in
    the curves.
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
    """The number of processes of the replicas; each process has the same number of replicas."""
    synchronous: bool = True
    """Whether all replicas take a step together.

    If not, each worker counts its own steps and examples.
    """

    @property
    def replicas(self) -> int:
        return int(self.loss.mean.shape[1])

    @property
    def curves(self) -> tuple[Curve, Curve, Curve]:
        """Loss, accuracy, rate."""
        return self.loss, self.accuracy, self.rate

    def over_replicas(self, curve: Curve) -> list[Values]:
        """Return the line [points] of a curve over all replicas.

        If workers are asynchronous, no such line exists, and each replica's line is returned.
        """
        return [curve.joined] if self.synchronous else list(curve.mean.T)

    @property
    def lines(self) -> Lines:
        """The lines of the run among other runs."""
        loss, accuracy, rate = (np.array(self.over_replicas(each)) for each in self.curves)
        return Lines(self.step, self.examples, self.training_seconds, loss, accuracy, rate,
                     self.steps_a_point, self.synchronous)  # fmt: skip

    @classmethod
    def none(cls, replicas: int, workers: int = 1, *, synchronous: bool = True) -> Points:
        """Return empty points for a run with this number of replicas."""
        line, lines = np.empty(0), np.empty((0, replicas))
        curve = Curve(lines, line, lines, lines)
        return cls(line, line, line, curve, curve, curve, np.empty((0, replicas), np.bool_),
                   workers=workers, synchronous=synchronous)  # fmt: skip

    def after(self, examples: float, training_seconds: float) -> Points:
        """Return the points with earlier examples and training seconds added."""
        return replace(
            self,
            examples=self.examples + examples,
            training_seconds=self.training_seconds + training_seconds,
        )


@dataclass(frozen=True)
class EpochPoints:
    """The numbers at the end of each epoch; each is [epochs], NaN if it is not known."""

    step: Values = field(default_factory=lambda: np.empty(0))
    loss: Values = field(default_factory=lambda: np.empty(0))
    accuracy: Values = field(default_factory=lambda: np.empty(0))
    test_loss: Values = field(default_factory=lambda: np.empty(0))
    test_accuracy: Values = field(default_factory=lambda: np.empty(0))
    metrics: dict[str, Values] = field(default_factory=dict)
    """The other metrics of a custom, compiled model; the metrics of the test are `test_...`."""
