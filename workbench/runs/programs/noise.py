"""The gradients of a run's replicas, measured at fixed weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.runs.folder.checkpoints import FOLDER, Saved
from workbench.runs.folder.files import RunError
from workbench.runs.folder.plan import read_plan
from workbench.runs.records.step_files import Doubles

from .run import run_programs

if TYPE_CHECKING:
    from workbench.plan import Plan

FEWEST_STEPS = 8
"""The fewest groups of steps for an interval; the engine makes 32 groups at most."""


@dataclass(frozen=True)
class Gradients:
    """Measures of the replicas' own gradients at the same weights, before these are summed.

    A replica's gradient is the gradient of its mean loss over its examples, before any clipping.
    """

    step: int
    """Steps trained up to these weights; 0 for the first weights."""
    per_replica_batch_size: int
    """The number of examples over which each gradient is the mean."""
    squared_norms: Doubles
    """[steps, replicas]: the squared norm of each replica's gradient in each step."""
    products: Doubles
    """[groups, groups]: inner products of the groups' mean gradients over all replicas. A group is
    a number of consecutive steps, the same number in each group."""
    weights: int
    """Numbers in a gradient."""


def measure_gradients(
    run_dir: Path,
    steps: int,
    *,
    growth: bool = False,
    stopped: Callable[[], bool] = lambda: False,
) -> tuple[Gradients, ...]:
    """Measure at the newest checkpoint of a run, alive or over; the run is not changed.

    Programs of the run's interpreter, one for each task, take the run's own steps on the batches
    that come next in an epoch, and apply no update. The weights must not change. Then gradients of
    different steps are like gradients of different replicas, so that one replica is enough; else
    each step would describe other weights. It takes some seconds plus the time of the steps.

    Args:
        run_dir: the run's folder.
        steps: global batches to take; fewer if one pass through the data has fewer. An example
            seen twice would look like agreement.
        growth: also measure at the first weights and at each older checkpoint that is kept.
        stopped: asked repeatedly; once it returns true, the processes are ended.

    Raises:
        RunError: nothing is saved yet, the steps are too few for an interval, workers do not step
            together, workers read the same examples, losses are scaled, a gradient is not finite,
            or a process fails.
        StoppedError: `stopped` returned true.
    """
    plan = read_plan(run_dir)
    _require_common_steps(plan)
    in_pass = plan.steps_of_a_pass
    _require_steps(steps, in_pass)
    _require_checkpoint(run_dir, growth=growth)
    tasks, at = plan.worker_tasks, "all" if growth else "last"
    wanted = str(min(steps, in_pass)), str(in_pass), at
    results = run_programs(run_dir, "noise", *wanted, tasks=tasks, stopped=stopped)
    found = [
        joined([each["at"][place] for each in results]) for place in range(len(results[0]["at"]))
    ]
    for each in found:
        require_finite(each)
    return tuple(found)


def joined(results: list[dict[str, Any]]) -> Gradients:
    """Return the tasks' results at the same weights as one, with the replicas side by side."""
    counts = np.hstack([each["examples"] for each in results])
    if np.ptp(counts):
        raise RunError(
            f"Replicas took {counts.min():g} to {counts.max():g} examples per step, and measuring "
            "the noise needs batches of one size. Choose a global batch size that the replicas can "
            "share evenly."
        )
    return Gradients(
        step=results[0]["step"],
        per_replica_batch_size=int(counts.flat[0]),
        squared_norms=np.hstack([each["squared_norms"] for each in results]),
        products=np.asarray(results[0]["products"]),
        weights=results[0]["weights"],
    )


def _require_common_steps(plan: Plan) -> None:
    rule = "The noise scale compares the gradients of replicas in the same step"
    if not plan.synchronous:
        raise RunError(
            f"{rule}, but workers of {plan.strategy_label} train asynchronously. Choose a run "
            "of another strategy, such as Mirrored."
        )
    if plan.workers > 1 and plan.auto_shard == "off":
        raise RunError(
            f"{rule} on different examples, but with auto_shard off all workers take the same "
            "examples. Choose a run with auto_shard data."
        )
    if plan.config.precision == "mixed_float16":
        raise RunError(
            f"{rule}, but mixed_float16 scales the loss, and the gradients with it. Choose a run "
            "in float32 or mixed_bfloat16."
        )


def _require_steps(steps: int, in_pass: int) -> None:
    if steps < FEWEST_STEPS:
        raise RunError(
            f"{steps} steps are too few for an interval. Ask for {FEWEST_STEPS} or more, such as "
            "128."
        )
    if in_pass < FEWEST_STEPS:
        raise RunError(
            f"The data holds {in_pass} full global batches, and an interval needs at least "
            f"{FEWEST_STEPS} steps of different examples. Choose a run with a smaller batch, or "
            "more data."
        )


def _require_checkpoint(run_dir: Path, *, growth: bool) -> None:
    saved = Saved.read(run_dir / FOLDER)
    if not growth and (saved is None or not saved.whole()):
        raise RunError(
            f"{run_dir} has saved no checkpoint yet, so there are no trained weights to measure. "
            "Let it train to the end of an epoch, or measure the growth of the noise, which starts "
            "at the first weights."
        )


def require_finite(found: Gradients) -> None:
    """Raise a RunError if a gradient is infinite or not a number."""
    steps, replicas = np.nonzero(~np.isfinite(found.squared_norms))
    if len(steps):
        wrong = found.squared_norms[steps[0], replicas[0]]
        what = "not a number" if math.isnan(wrong) else "infinite"
        raise RunError(
            f"The gradient of replica {replicas[0]} is {what} at the weights of step {found.step}, "
            f"in batch {steps[0] + 1} of the measurement. Choose a smaller learning rate, or "
            "clip_norm, and inspect one step: workbench runs xray."
        )
