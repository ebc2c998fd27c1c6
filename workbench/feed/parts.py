"""The summary of a run as JSON: as the row of a list, and as the parts of a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench import catalog
from workbench.runs.folder.logs import folded
from workbench.runs.listing import Unreadable, summary_in_list
from workbench.runs.made_of import WORK

if TYPE_CHECKING:
    from workbench.plan import Plan
    from workbench.points import EpochPoints
    from workbench.runs import Progress, Run, Summary
    from workbench.runs.copying.copies import Copies
    from workbench.runs.records.ledger import Ledger

LOG_LINES = 40
ARCHIVE = "archive"
"""The name of the lane and the log of a run's copies."""


def row_of(run: Run) -> dict[str, Any]:
    """Return the row of a run in a list; if its folder is damaged, the row has the error."""
    summary = summary_in_list(run)
    known = {
        "id": run.id,
        "name": run.name,
        "title": summary.title,
        "created": run.created,
        "status": summary.status,
        "alive": summary.alive,
        "actions": summary.actions,
    }
    if isinstance(summary, Unreadable):
        return {**known, "about": "", "error": summary.error}
    plan, made, failure = summary.plan, summary.made_of, summary.failure
    labels = (catalog.label_of(name, getattr(plan, name)) for name in ("loop", "data", "model"))
    strategy = f"{plan.strategy_label} on {plan.who_trains}"
    return {
        **known,
        # First what no title says: a narrow list cuts the end off.
        "about": ", ".join((f"batch {made['batch']}", *labels, strategy)),
        "work": {name: made[name] for name in WORK},
        **_progress_part(summary.progress, alive=summary.alive),
        "note": failure.cause if failure else summary.progress.note,
        "resumeStep": summary.resume_step,
        "results": {**summary.results, "examples_per_second": summary.examples_per_second},
        "error": "",
    }


def parts_of(run: Run, summary: Summary) -> dict[str, Any]:
    """Return what a page shows of a run besides its curves; a changed part is sent again.

    Raises:
        RunError: the run's folder is missing or cannot be read.
    """
    progress = summary.progress
    return {
        "head": {
            "id": summary.id,
            "name": summary.name,
            "title": summary.title,
            "about": describe(summary.plan),
            "dir": str(summary.dir),
            "status": summary.status,
            "alive": summary.alive,
            "tested": summary.plan.is_tested,
        },
        "progress": {
            **_progress_part(progress, alive=summary.alive),
            "note": " ".join(filter(None, (progress.note, progress.changed))),
            "waitsFor": list(progress.waits_for),
        },
        "lanes": [*_lanes(summary, killable=run.killable), *_archive_lane(run.copies)],
        "logs": ends_of_logs(run),
        "ledger": _ledger_part(summary.ledger or run.ledger),
        "results": None if summary.alive else _results_part(summary),
        "failure": summary.failure and asdict(summary.failure),
        "actions": summary.actions,
        "resume": {"resumeStep": summary.resume_step},
    }


def ends_of_logs(run: Run) -> dict[str, str]:
    """Return the end of the log of each task, and of the copies if there are any."""
    logs = {task: folded(log, LOG_LINES) for task, log in run.logs(4 * LOG_LINES).items()}
    copied = run.copies_log(LOG_LINES)
    return {**logs, ARCHIVE: copied} if copied else logs


def _progress_part(progress: Progress, *, alive: bool) -> dict[str, Any]:
    """Return a run's progress as JSON; null if a number is not known."""
    return {
        "step": progress.step,
        "totalSteps": progress.total_steps,
        "epoch": progress.epoch,
        "epochs": progress.epochs,
        "stepsPerSecond": progress.steps_per_second,
        "examplesPerSecond": progress.examples_per_second,
        "etaSeconds": progress.eta_seconds if alive else None,
        "phase": progress.phase,
        "stage": progress.stage.sentence if progress.stage else "",
    }


def _lanes(summary: Summary, *, killable: bool) -> list[dict[str, Any]]:
    return [
        {
            "task": lane.task,
            "state": lane.phase,
            "step": lane.step,
            "stepsPerSecond": lane.steps_per_second,
            "note": lane.note if summary.alive else "",
            "tfConfig": lane.tf_config,
            "killable": killable and summary.status == "running",
            "restartsAlone": summary.plan.restarts_alone(lane.task),
        }
        for lane in summary.progress.lanes
    ]


def _archive_lane(copies: Copies | None) -> list[dict[str, Any]]:
    """Return a lane for the copies of a run; none if no copy was tried."""
    if copies is None:
        return []
    state = "copied" if copies.failing_since is None else "failing"
    lane = {"task": ARCHIVE, "state": state, "step": copies.step, "stepsPerSecond": None}
    return [{**lane, "note": "", "tfConfig": ""}]


def _ledger_part(ledger: Ledger) -> Mapping[str, Any]:
    return {
        "firstStep": [[entry.label, entry.seconds] for entry in ledger.first_step],
        "whole": [[entry.name, entry.seconds] for entry in ledger.whole],
        "seconds": ledger.seconds,
        "queueSeconds": ledger.queue_seconds,
    }


def _results_part(summary: Summary) -> dict[str, float | None]:
    """Return the results of a run that is over as JSON; null if a number is not known."""
    return {
        "loss": summary.results["loss"],
        "accuracy": summary.results["accuracy"],
        "testAccuracy": summary.results["test_accuracy"],
        "examplesPerSecond": summary.examples_per_second,
        "seconds": summary.seconds,
    }


def epoch_part(numbers: list[int], epochs: EpochPoints) -> dict[str, Any]:
    """Return the results at the ends of epochs as JSON; null if a number is not known."""
    return {
        "epoch": numbers,
        "step": epochs.step.tolist(),
        "loss": _known(epochs.loss),
        "accuracy": _known(epochs.accuracy),
        "testLoss": _known(epochs.test_loss),
        "testAccuracy": _known(epochs.test_accuracy),
        "metrics": {name: _known(values) for name, values in epochs.metrics.items()},
    }


def describe(plan: Plan) -> str:
    """Return a description of a plan in one line: model, data, loop, strategy, replicas, batch."""
    model, data = catalog.label_of("model", plan.model), catalog.label_of("data", plan.data)
    together = f", {plan.global_batch_size} per step" if plan.synchronous else ""
    return (
        f"{model} on {data}, "
        f"{catalog.LOOPS[plan.loop].label}, {plan.strategy_label} on {plan.who_trains}, "
        f"{plan.per_replica_batch_size} per replica{together}"
    )


def _known(values: Any) -> list[float | None]:
    return [float(value) if np.isfinite(value) else None for value in values]
