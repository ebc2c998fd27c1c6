"""The same step number of each worker that does not wait: its examples and its record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.runs.folder.tasks import workers_of
from workbench.runs.records.progress import recorded_steps, shape_of
from workbench.runs.records.reader import read_range
from workbench.runs.records.staleness import read_staleness

from .run import run_program


def longest(run_dir: Path, plan: dict[str, Any]) -> int:
    """Return the largest number of steps that one worker has recorded."""
    shape = shape_of(plan)
    return max(recorded_steps(run_dir / task, shape)[0] for task in workers_of(plan))


def own_steps(run_dir: Path, plan: dict[str, Any], step: int) -> dict[str, Any]:
    """Return each worker's examples in its own step `step`, and the record of that step.

    The examples come from the run's own pipeline, in a process of the run's interpreter, which
    searches for them in the training set. Nothing is trained again: the weights in a step depend
    on the updates by other workers, and no second training repeats these updates.

    Returns:
        step, strategy_label, and workers, a dict each: task, examples, rows (their numbers in the
        training set), and from the record, None if there is none: loss_sum, loss (its mean),
        correct, staleness (updates by others between its reading of the weights and its own
        update).

    Raises:
        RunError: the process fails.
    """
    told = run_program(run_dir, "xray", str(step))
    tasks = workers_of(plan)
    stale = read_staleness(run_dir, tasks).query("step == @step").set_index("worker")["staleness"]
    workers = []
    for number, (task, own) in enumerate(zip(tasks, told["workers"], strict=True)):
        record = dict.fromkeys(("loss_sum", "loss", "correct"))
        for block in read_range(run_dir / task, 1, step, step):
            loss_sum, correct, examples = block.values[0, 0].tolist()
            record = {"loss_sum": loss_sum, "loss": loss_sum / examples, "correct": correct}
        behind = int(stale[number]) if number in stale else None
        workers.append({"task": task, **own, **record, "staleness": behind})
    return {"step": step, "strategy_label": plan["strategy_label"], "workers": workers}
