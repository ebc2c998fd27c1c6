"""The same step number of each worker that does not wait: its examples and its record."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from workbench.runs.folder.files import FIRST_STEP
from workbench.runs.records.arrays import Shape
from workbench.runs.records.progress import recorded_steps
from workbench.runs.records.reader import read_range
from workbench.runs.records.staleness import read_staleness

from .run import run_program
from .step_xray import WorkersXray, WorkerXray

if TYPE_CHECKING:
    from workbench.plan import Plan


def longest(run_dir: Path, plan: Plan) -> int:
    """Return the largest number of steps that one worker has recorded."""
    shape = Shape.of(plan)
    return max(recorded_steps(run_dir / task, shape) for task in plan.worker_tasks)


def xray_workers(run_dir: Path, plan: Plan, step: int) -> WorkersXray:
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
