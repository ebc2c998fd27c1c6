"""One step of a run in detail, compared with the run's record of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from workbench.runs.folder.events import read_events
from workbench.runs.folder.files import RunError, json_text, write_text
from workbench.runs.folder.state import attempt_events
from workbench.runs.folder.tasks import leader_of, read_numbers, workers_of
from workbench.runs.records.arrays import Shape
from workbench.runs.records.progress import shape_of, steps_done
from workbench.runs.records.reader import read_range
from workbench.runs.records.worker_counts import UNKNOWN, worker_counts_of, workers_at

from .run import run_programs
from .worker_steps import longest, own_steps

TOLERANCE = 1e-6
"""The tolerance of the mean loss, absolute below 1 and relative above it."""


def xray(run_dir: Path, step: int) -> dict[str, Any]:
    """Do a step again, in separate processes, and return the values of every replica in it.

    It starts from the nearest checkpoint at or before the step, or from the first weights. It goes
    forward with the run's own script on its own strategy, and inspects the step. It takes some
    seconds plus the time of the steps on the way. The run is not changed. The result is kept in
    xray-STEP.json.

    If workers do not wait for each other, there is no common step. Then the result comes from
    `worker_steps.own_steps`; it has the key `workers`.

    Args:
        run_dir: a run, alive or over.
        step: 0-based, one that the run has done.

    Returns:
        Of the step: step, epoch (from 1), started_at_step, global_batch_size, examples, loss (its
        mean over them), sum_norm (of the gradient summed over the replicas), clip_norm and
        applied_norm (after clipping; None if nothing is clipped), divides_by_batch (whether each
        replica differentiated its contribution; another kind of loss may have other weights),
        agrees (with the record; None if there is no record, or another number of workers did the
        step), strategy_label, virtual.

        replicas, a dict each: replica, name, task, device, examples, rows (their numbers in the
        training set; None for an example that is not in it), loss_sum, correct, contribution
        (loss sum over the step's examples), loss (what it differentiated), gradient_norm,
        sum_norm (as it received it), recorded_loss_sum, difference.

        weights: before and after (task, device and hash of each copy), differing (trained weights
        whose copies are not equal), own (weights that are not trained and differ between the
        replicas), equal, changed, numbers.

        A number that is not finite is None.

    Raises:
        RunError: the run has no such step, its precision scales losses, or a process fails.
    """
    plan = read_numbers(run_dir)
    shape, tasks = shape_of(plan), workers_of(plan)
    if shape.synchronous:
        _require_unscaled(plan)
        _require_done(step, steps_done(run_dir, plan, attempt_events(run_dir)))
        told = run_programs(run_dir, "xray", str(step), tasks=tasks)
        row = recorded_row(run_dir, tasks, shape, step)
        result = describe(dict(zip(tasks, told, strict=True)), plan, row)
    else:
        _require_done(step, longest(run_dir, plan))
        result = own_steps(run_dir, plan, step)
    write_text(run_dir / f"xray-{step}.json", json_text(result))
    return result


def recorded_row(
    run_dir: Path, tasks: Sequence[str], shape: Shape, step: int
) -> list[list[float]] | None:
    """Return loss sum, correct and examples of each replica as these workers recorded them.

    None if the step was not recorded, or if another number of workers did it last.
    """
    worker_counts = worker_counts_of(read_events(run_dir / leader_of(run_dir) / "events.jsonl"))
    if worker_counts and workers_at(worker_counts, np.array([step])) not in (len(tasks), UNKNOWN):
        return None
    row: list[list[float]] = []
    for task in tasks:
        rows = read_range(run_dir / task, shape.replicas, step, step, shape.total_steps)
        block = next(rows, None)
        if block is None:
            return None
        row += block.values[0].tolist()
    return row


def describe(
    told: Mapping[str, dict[str, Any]], plan: dict[str, Any], row: list[list[float]] | None
) -> dict[str, Any]:
    """Return the tasks' results as one, completed from the plan and compared with the record."""
    owned = [(task, own) for task, each in told.items() for own in each["replicas"]]
    examples = sum(own["examples"] for _, own in owned)
    replicas = [
        {
            "replica": at,
            "name": f"{task.replace('-', ' ')}, replica {at}" if len(told) > 1 else f"replica {at}",
            "task": task,
            "device": plan["replica_devices"][at],
            **own,
            "contribution": _over(own["loss_sum"], examples),
            "recorded_loss_sum": _finite(row[at][0]) if row else None,
        }
        for at, (task, own) in enumerate(owned)
    ]
    for replica in replicas:
        replica["difference"] = _difference(replica["loss_sum"], replica["recorded_loss_sum"])
    first = next(iter(told.values()))
    return {
        **first,
        "strategy_label": plan["strategy_label"],
        "virtual": plan["virtual"],
        "examples": examples,
        "replicas": replicas,
        "loss": _sum([replica["contribution"] for replica in replicas]),
        "sum_norm": replicas[0]["sum_norm"],
        "applied_norm": replicas[0].get("applied_norm"),
        "divides_by_batch": all(_divided(replica) for replica in replicas),
        "agrees": agrees(replicas, row),
        "weights": _weights({task: each["weights"] for task, each in told.items()}),
    }


def _weights(told: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the copies of all tasks together, and whether they are equal."""
    first = next(iter(told.values()))
    before, after, others = (
        [{"task": task, **copy} for task, each in told.items() for copy in each[name]]
        for name in ("before", "after", "others")
    )
    result = {
        "differing": _differing(first["names"], after),
        "own": _differing(first["other_names"], others),
        "equal": len({copy["sha256"] for copy in after}) == 1,
        "numbers": first["numbers"],
    }
    for copy in (*before, *after):
        del copy["parts"]
    return {"before": before, "after": after, **result, "changed": before != after}


def _differing(names: Sequence[str], copies: Sequence[dict[str, Any]]) -> list[str]:
    """Return the names of weights whose copies have different hashes."""
    hashes = zip(*(copy["parts"] for copy in copies), strict=True)
    return [name for name, each in zip(names, hashes, strict=True) if len(set(each)) > 1]


def agrees(replicas: list[dict[str, Any]], row: list[list[float]] | None) -> bool | None:
    """Return whether each replica's examples and loss sum match the record; None: no record."""
    if row is None:
        return None
    return len(replicas) == len(row) and all(
        replica["examples"] == recorded[2] and _same(replica["loss_sum"], recorded)
        for replica, recorded in zip(replicas, row, strict=True)
    )


def _same(loss_sum: float | None, recorded: list[float]) -> bool:
    if loss_sum is None or not math.isfinite(recorded[0]):
        return loss_sum is None and not math.isfinite(recorded[0])
    return abs(loss_sum - recorded[0]) <= TOLERANCE * max(recorded[2], abs(recorded[0]))


def _divided(replica: dict[str, Any]) -> bool:
    loss: float | None = replica["loss"]
    contribution: float | None = replica["contribution"]
    if loss is None or contribution is None:
        return loss is contribution
    return abs(loss - contribution) <= 10 * TOLERANCE * max(1.0, abs(contribution))


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _over(value: float | None, count: int) -> float | None:
    return None if value is None else value / count


def _difference(value: float | None, other: float | None) -> float | None:
    return None if value is None or other is None else value - other


def _sum(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _require_unscaled(plan: dict[str, Any]) -> None:
    if (plan.get("config") or {}).get("precision") == "mixed_float16":
        raise RunError(
            "An X-ray reads the gradients as the step computes them; received a run in "
            "mixed_float16, which scales its loss. Choose a run in float32 or mixed_bfloat16."
        )


def _require_done(step: int, done: int) -> None:
    if not 0 <= step < done:
        first = "A step that the run has done can be taken apart"
        if not done:
            raise RunError(f"{first}; received {step}, and it has done none. Let it train first.")
        raise RunError(
            f"{first}, from 0 to {done - 1}; received {step}. Choose one of those, or let the run "
            "go on."
        )
