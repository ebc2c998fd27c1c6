"""A step of a run in detail, compared with the run's record of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.runs.folder.events import read_events
from workbench.runs.folder.files import FIRST_STEP, RunError, json_text, write_text
from workbench.runs.folder.plan import read_plan
from workbench.runs.folder.state import attempt_events
from workbench.runs.programs.measurement import read_measurement
from workbench.runs.programs.run import run_program, run_programs
from workbench.runs.programs.step_xray import (
    ReplicaXray,
    StepXray,
    WeightsCopy,
    WeightsXray,
    WorkersXray,
    WorkerXray,
)
from workbench.runs.records.arrays import UNKNOWN, Shape, worker_counts_of, workers_at
from workbench.runs.records.progress import recorded_steps, steps_done
from workbench.runs.records.reader import read_range
from workbench.runs.records.staleness import read_staleness

if TYPE_CHECKING:
    from workbench.plan import Plan


def xray(run_dir: Path, step: int) -> StepXray | WorkersXray:
    """Do a step again, in separate processes, and return the values of every replica in it.

    It starts from the nearest checkpoint at or before the step, or from the first weights. It goes
    forward with the run's own script on its own strategy, and inspects the step. It takes some
    seconds plus the time of the steps on the way. The run is not changed. The result is kept in
    xray-N.json, which counts from 0, as all files of a run.

    If workers do not wait for each other, there is no common step. Then the result is a
    `WorkersXray`.

    Args:
        run_dir: a run, alive or over.
        step: counted from 1, one that the run has done.

    Raises:
        RunError: the run has no such step, its precision scales losses, or a process fails.
    """
    plan = read_plan(run_dir)
    shape, tasks = Shape.of(plan), plan.worker_tasks
    result: StepXray | WorkersXray
    index = step - FIRST_STEP
    if shape.synchronous:
        _require_unscaled(plan)
        _require_done(step, steps_done(run_dir, plan, attempt_events(run_dir)))
        replies = run_programs(run_dir, "xray", str(index), tasks=tasks)
        row = recorded_row(run_dir, tasks, shape, index)
        result = describe(dict(zip(tasks, replies, strict=True)), plan, row)
    else:
        _require_done(step, _longest(run_dir, plan))
        result = _xray_workers(run_dir, plan, index)
    write_text(run_dir / f"xray-{index}.json", json_text(asdict(result)))
    return replace(result, step=step)


def saved_xrays(run_dir: Path) -> list[StepXray | WorkersXray]:
    """Return the kept X-rays of a run in the order of their steps, which count from 1.

    Raises:
        RunError: a kept X-ray cannot be read.
    """
    synchronous = read_plan(run_dir).synchronous
    kind: type[StepXray | WorkersXray] = StepXray if synchronous else WorkersXray
    kept = [read_measurement(path, kind) for path in run_dir.glob("xray-*.json")]
    found = [replace(each, step=each.step + FIRST_STEP) for each in kept if each is not None]
    return sorted(found, key=lambda each: each.step)


def _longest(run_dir: Path, plan: Plan) -> int:
    """Return the largest number of steps that one worker has recorded."""
    shape = Shape.of(plan)
    return max(recorded_steps(run_dir / task, shape) for task in plan.worker_tasks)


def _xray_workers(run_dir: Path, plan: Plan, step: int) -> WorkersXray:
    """Return each worker's examples in its own step `step`, from 0, and the record of that step.

    The examples come from the run's own pipeline, in a process of the run's interpreter, which
    searches for them in the training set. Nothing is trained again: the weights in a step depend
    on the updates by other workers, and no second training repeats these updates.

    Raises:
        RunError: the process fails.
    """
    reply = run_program(run_dir, "xray", str(step))
    tasks = plan.worker_tasks
    every = read_staleness(run_dir, tasks)
    stale = every[every["step"] == step + FIRST_STEP].set_index("worker")["staleness"]
    workers = []
    for number, (task, own) in enumerate(zip(tasks, reply["workers"], strict=True)):
        loss_sum = loss = correct = None
        for block in read_range(run_dir / task, 1, step, step):
            loss_sum, correct, examples = block.values[0, 0].tolist()
            loss = loss_sum / examples
        workers.append(
            WorkerXray(
                task=task,
                **own,
                loss_sum=loss_sum,
                loss=loss,
                correct=correct,
                staleness=int(stale[number]) if number in stale else None,
            )
        )
    return WorkersXray(step, plan.strategy_label, workers)


def recorded_row(
    run_dir: Path, tasks: Sequence[str], shape: Shape, step: int
) -> list[list[float]] | None:
    """Return loss sum, correct and examples of each replica as these workers recorded them.

    `step` counts from 0. None if it was not recorded, or if another number of workers did it last.
    """
    worker_counts = worker_counts_of(
        read_events(run_dir / read_plan(run_dir).leader / "events.jsonl")
    )
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
    replies: Mapping[str, dict[str, Any]], plan: Plan, row: list[list[float]] | None
) -> StepXray:
    """Return the tasks' replies as one, completed from the plan and compared with the record.

    Its step counts from 0, as in the replies.
    """
    owned = [(task, own) for task, reply in replies.items() for own in reply["replicas"]]
    examples = sum(own["examples"] for _, own in owned)
    replicas = [
        _replica(own, at, task, plan.replica_devices[at], examples, row[at][0] if row else None)
        for at, (task, own) in enumerate(owned)
    ]
    if len(replies) > 1:
        replicas = [
            replace(each, name=f"{each.task.replace('-', ' ')}, {each.name}") for each in replicas
        ]
    first = next(iter(replies.values()))
    return StepXray(
        step=first["step"],
        epoch=first["epoch"],
        started_at_step=first["started_at_step"],
        global_batch_size=first["global_batch_size"],
        examples=examples,
        loss=_sum([replica.contribution for replica in replicas]),
        sum_norm=replicas[0].sum_norm,
        clip_norm=first["clip_norm"],
        applied_norm=replicas[0].applied_norm,
        divides_by_batch=all(replica.divides_by_batch for replica in replicas),
        agrees=agrees(replicas, row),
        strategy_label=plan.strategy_label,
        virtual=plan.virtual,
        replicas=replicas,
        weights=_weights({task: reply["weights"] for task, reply in replies.items()}),
    )


def _replica(
    own: dict[str, Any], at: int, task: str, device: str, examples: int, recorded: float | None
) -> ReplicaXray:
    """Return one replica of a task's reply, in a step of so many examples."""
    loss_sum: float | None = own["loss_sum"]
    known = recorded if recorded is not None and math.isfinite(recorded) else None
    return ReplicaXray(
        **{"applied_norm": None, **own},
        replica=at,
        name=f"replica {at}",
        task=task,
        device=device,
        contribution=None if loss_sum is None else loss_sum / examples,
        recorded_loss_sum=known,
        difference=None if loss_sum is None or known is None else loss_sum - known,
    )


def _weights(replies: Mapping[str, dict[str, Any]]) -> WeightsXray:
    """Return the copies of all tasks together, and whether they are equal."""
    first = next(iter(replies.values()))
    before, after = (
        [
            WeightsCopy(task, copy["device"], copy["sha256"])
            for task, reply in replies.items()
            for copy in reply[name]
        ]
        for name in ("before", "after")
    )
    return WeightsXray(
        before=before,
        after=after,
        differing=_differing(first["names"], replies, "after"),
        own=_differing(first["other_names"], replies, "others"),
        numbers=first["numbers"],
        equal=len({copy.sha256 for copy in after}) == 1,
        changed=before != after,
    )


def _differing(
    names: Sequence[str], replies: Mapping[str, dict[str, Any]], which: str
) -> list[str]:
    """Return the names of weights whose copies have different hashes."""
    copies = [copy["parts"] for reply in replies.values() for copy in reply[which]]
    hashes = zip(*copies, strict=True)
    return [name for name, each in zip(names, hashes, strict=True) if len(set(each)) > 1]


def agrees(replicas: Sequence[ReplicaXray], row: list[list[float]] | None) -> bool | None:
    """Return whether each replica's examples and loss sum match the record; None: no record."""
    if row is None:
        return None
    return len(replicas) == len(row) and all(
        replica.agrees_with(recorded) for replica, recorded in zip(replicas, row, strict=True)
    )


def _sum(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _require_unscaled(plan: Plan) -> None:
    if plan.config.precision == "mixed_float16":
        raise RunError(
            "An X-ray cannot read the gradients of a run in mixed_float16, which scales the loss. "
            "Choose a run in float32 or mixed_bfloat16."
        )


def _require_done(step: int, done: int) -> None:
    if not FIRST_STEP <= step <= done:
        if not done:
            raise RunError("The run has done no step to X-ray yet. Let it train first.")
        raise RunError(
            f"The run has not done step {step}, only steps {FIRST_STEP} to {done}. Choose one of "
            "those, or let the run continue."
        )
