"""X-rays of a step, for tests that show them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from workbench.runs.programs.step_xray import (
    ReplicaXray,
    StepXray,
    WeightsCopy,
    WeightsXray,
)


def step_xray(count: int = 2, copies: int | None = None, **fields: Any) -> StepXray:
    """Return the X-ray of a step with this number of replicas and these fields."""
    after = [WeightsCopy("worker-0", f"CPU:{at}", "5e304dcaa9bd") for at in range(copies or count)]
    weights = WeightsXray(
        before=[], after=after, differing=[], own=[], numbers=321, equal=True, changed=True
    )
    step = StepXray(
        step=1234, epoch=2, started_at_step=1200, global_batch_size=128, examples=128, loss=0.5,
        sum_norm=0.625, clip_norm=None, applied_norm=None, divides_by_batch=True, agrees=True,
        strategy_label="Mirrored", virtual=True,
        replicas=[replica_xray(at) for at in range(count)], weights=weights,
    )  # fmt: skip
    return replace(step, **fields)


def replica_xray(at: int, **fields: Any) -> ReplicaXray:
    """Return the X-ray of one replica, with these fields."""
    usual = ReplicaXray(
        replica=at, name=f"replica {at}", task="worker-0", device=f"CPU:{at}", examples=64,
        rows=[at, 100 + at, 7, 8], loss_sum=32.5 + at, correct=40.0, contribution=0.25, loss=0.25,
        gradient_norm=0.375, sum_norm=0.625, applied_norm=None, recorded_loss_sum=32.5 + at,
        difference=0.0,
    )  # fmt: skip
    return replace(usual, **fields)
