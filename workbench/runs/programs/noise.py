"""The gradients of a run's replicas, measured at weights that stand still."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.runs.folder.checkpoints import FOLDER, Saved
from workbench.runs.folder.files import RunError, read_json
from workbench.runs.folder.tasks import workers_of
from workbench.runs.records.progress import shape_of
from workbench.runs.records.segments import Doubles

from .run import run_programs

FEWEST_STEPS = 8
"""Groups of steps of which an interval is made at least; the engine makes 32 at most."""


@dataclass(frozen=True)
class Gradients:
    """What the replicas' own gradients at the same weights come to, before they are summed.

    A replica's gradient is that of its mean loss over its examples, as it is before any clipping.
    """

    step: int
    """Steps trained when the weights were these; 0 are the first weights."""
    per_replica_batch_size: int
    """Examples of which each gradient is the mean."""
    squared_norms: Doubles
    """[steps, replicas], of each replica's gradient in each step."""
    products: Doubles
    """[groups, groups], inner products of the mean gradients of as many groups of steps in a row,
    all of the same number of steps, over all replicas."""
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

    Programs of the run's interpreter, one a task, take the run's own steps on the batches that
    come next in an epoch, and apply nothing. The weights must stand still, for gradients of
    different steps to be as those of different replicas; else each step would tell of other
    weights. So one replica is enough. It takes seconds, and the time of the steps.

    Args:
        run_dir: the run's folder.
        steps: global batches to take, fewer where one pass through the data has fewer. An example
            seen twice would look like agreement.
        growth: measure also at the first weights and at each older checkpoint that is kept.
        stopped: asked again and again; once it says so the processes are ended.

    Raises:
        RunError: nothing is saved yet, the steps are too few for an interval, workers do not step
            together or read the same examples, losses are scaled, a gradient is not finite, or a
            process fails.
        StoppedError: it was stopped.
    """
    plan = read_json(run_dir / "plan.json")
    _require_common_steps(plan)
    in_pass = steps_of_a_pass(plan)
    _require_steps(steps, in_pass)
    _require_checkpoint(run_dir, growth=growth)
    tasks, at = workers_of(plan), "all" if growth else "last"
    wanted = str(min(steps, in_pass)), str(in_pass), at
    told = run_programs(run_dir, "noise", *wanted, tasks=tasks, stopped=stopped)
    found = [joined([each["at"][place] for each in told]) for place in range(len(told[0]["at"]))]
    for each in found:
        require_finite(each)
    return tuple(found)


def joined(told: list[dict[str, Any]]) -> Gradients:
    """Return what the tasks told of the same weights as one, the replicas side by side."""
    counts = np.hstack([each["examples"] for each in told])
    if np.ptp(counts):
        raise RunError(
            "Noise is measured of batches of one size; received steps whose replicas took "
            f"{counts.min():g} to {counts.max():g} examples. Choose a global batch that the "
            "replicas can share evenly."
        )
    return Gradients(
        step=told[0]["step"],
        per_replica_batch_size=int(counts.flat[0]),
        squared_norms=np.hstack([each["squared_norms"] for each in told]),
        products=np.asarray(told[0]["products"]),
        weights=told[0]["weights"],
    )


def steps_of_a_pass(plan: dict[str, Any]) -> int:
    """Return the whole global batches of an epoch, or of a pass through the data where it ends."""
    in_data = int(plan["num_train_examples"]) // int(plan["global_batch_size"])
    return min(in_data, int(plan["steps_per_epoch"]))


def _require_common_steps(plan: dict[str, Any]) -> None:
    rule = "A noise scale compares the gradients of replicas that step together"
    if not shape_of(plan).synchronous:
        raise RunError(
            f"{rule}; received a run of {plan['strategy_label']}, whose workers each step by "
            "themselves. Choose a run of another strategy, such as Mirrored."
        )
    if len(workers_of(plan)) > 1 and plan.get("auto_shard") == "off":
        raise RunError(
            f"{rule} on different examples; received a run with auto_shard off, whose workers all "
            "take the same. Choose a run with auto_shard data."
        )
    if (plan.get("config") or {}).get("precision") == "mixed_float16":
        raise RunError(
            f"{rule} as the step computes them; received a run in mixed_float16, which scales its "
            "loss. Choose a run in float32 or mixed_bfloat16."
        )


def _require_steps(steps: int, in_pass: int) -> None:
    if steps < FEWEST_STEPS:
        raise RunError(
            f"An interval is made of at least {FEWEST_STEPS} steps; received {steps}. Ask for "
            f"{FEWEST_STEPS} or more, such as 128."
        )
    if in_pass < FEWEST_STEPS:
        raise RunError(
            f"An interval is made of at least {FEWEST_STEPS} steps of different examples; received "
            f"a run whose data holds {in_pass} whole global batches. Choose a run with a smaller "
            "batch, or more data."
        )


def _require_checkpoint(run_dir: Path, *, growth: bool) -> None:
    saved = Saved.read(run_dir / FOLDER)
    if not growth and (saved is None or not saved.whole()):
        raise RunError(
            f"Noise is measured at weights that training has reached; {run_dir} has saved no "
            "checkpoint yet. Let it train to the end of an epoch, or ask for its growth, which "
            "begins at the first weights."
        )


def require_finite(found: Gradients) -> None:
    """Refuse gradients of which one is not a number or infinite."""
    steps, replicas = np.nonzero(~np.isfinite(found.squared_norms))
    if len(steps):
        wrong = found.squared_norms[steps[0], replicas[0]]
        what = "not a number" if math.isnan(wrong) else "infinite"
        raise RunError(
            f"Noise is measured of gradients that are finite; that of replica {replicas[0]} is "
            f"{what} at the weights of step {found.step}, in batch {steps[0]} of those taken. "
            "Choose a smaller learning rate, or clip_norm, and look at one step: workbench runs "
            "xray."
        )
