"""The X-ray of a step: its parts as values; a number that is not finite is None."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

TOLERANCE = 1e-6
"""The tolerance of the mean loss, absolute below 1 and relative above it."""


@dataclass(frozen=True)
class ReplicaXray:
    """What one replica computed in the step."""

    replica: int
    name: str
    task: str
    device: str
    examples: int
    rows: list[int] | None
    """The examples' numbers in the training set; None if one of them is not in it."""
    loss_sum: float | None
    correct: float | None
    contribution: float | None
    """The loss sum over the examples of the step."""
    loss: float | None
    """The loss that the replica differentiated."""
    gradient_norm: float | None
    sum_norm: float | None
    """The norm of the gradient summed over the replicas, as this replica received it."""
    applied_norm: float | None
    """The norm after clipping; None if nothing is clipped."""
    recorded_loss_sum: float | None
    difference: float | None
    """The loss sum less the recorded one."""

    @property
    def divides_by_batch(self) -> bool:
        """Whether it differentiated its contribution; another loss may have other weights."""
        if self.loss is None or self.contribution is None:
            return self.loss is self.contribution
        size = max(1.0, abs(self.contribution))
        return abs(self.loss - self.contribution) <= 10 * TOLERANCE * size

    def agrees_with(self, recorded: Sequence[float]) -> bool:
        """Return whether it equals the record: `[loss sum, correct, examples]`."""
        loss_sum, _, examples = recorded
        if self.examples != examples:
            return False
        if self.loss_sum is None or not math.isfinite(loss_sum):
            return self.loss_sum is None and not math.isfinite(loss_sum)
        return abs(self.loss_sum - loss_sum) <= TOLERANCE * max(examples, abs(loss_sum))


@dataclass(frozen=True)
class WeightsCopy:
    """One copy of the trained weights."""

    task: str
    device: str
    sha256: str
    """The first digits of the hash of all weights."""


@dataclass(frozen=True)
class WeightsXray:
    """The copies of the weights before and after the step."""

    before: list[WeightsCopy]
    after: list[WeightsCopy]
    differing: list[str]
    """The names of trained weights whose copies are not equal after the step."""
    own: list[str]
    """The names of weights that are not trained and differ between the replicas."""
    numbers: int
    """How many numbers one copy has."""
    equal: bool
    changed: bool


@dataclass(frozen=True)
class StepXray:
    """A step that all replicas did together."""

    step: int
    """Counted from 1."""
    epoch: int
    """Counted from 1."""
    started_at_step: int
    """The steps done in the checkpoint from which it went forward; 0: the first weights."""
    global_batch_size: int
    examples: int
    loss: float | None
    """The mean over the examples."""
    sum_norm: float | None
    """The norm of the gradient summed over the replicas."""
    clip_norm: float | None
    applied_norm: float | None
    """The norm after clipping; None if nothing is clipped."""
    divides_by_batch: bool
    """Whether each replica differentiated its contribution."""
    agrees: bool | None
    """Whether it equals the record; None if the step, by as many workers, was not recorded."""
    strategy_label: str
    virtual: bool
    replicas: list[ReplicaXray]
    weights: WeightsXray

    @property
    def origin(self) -> str:
        """For people: the weights from which it went forward."""
        start = self.started_at_step
        return f"the checkpoint of step {start:,}" if start else "the first weights"


@dataclass(frozen=True)
class WorkerXray:
    """What one asynchronous worker took in its own step; None if the step has no record."""

    task: str
    examples: int
    rows: list[int] | None
    """The examples' numbers in the training set; None if one of them is not in it."""
    loss_sum: float | None
    loss: float | None
    """The mean over the examples."""
    correct: float | None
    staleness: int | None
    """Updates by others between its reading of the weights and its own update."""


@dataclass(frozen=True)
class WorkersXray:
    """The same step number of each worker that does not wait for the others."""

    step: int
    """Counted from 1."""
    strategy_label: str
    workers: list[WorkerXray]
