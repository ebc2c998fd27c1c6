"""A snapshot of a run, and the parts of it that a page shows: all but the curves, as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench import catalog
from workbench.runs.folder.logs import folded
from workbench.runs.folder.state import LIVE

if TYPE_CHECKING:
    from workbench.plan import Plan
    from workbench.points import EpochPoints
    from workbench.runs import Failure, Progress, Run
    from workbench.runs.copying.copies import Copies
    from workbench.runs.records.ledger import Ledger

LOG_LINES = 40
ARCHIVE = "archive"
"""The name of the lane and the log of a run's copies."""
RESUMABLE = ("stopped", "failed", "lost")


@dataclass(frozen=True)
class RunSnapshot:
    """The state of a run at one moment."""

    run: Run
    plan: Plan
    status: str
    progress: Progress
    failure: Failure | None
    ledger: Ledger
    logs: dict[str, str]
    copies: Copies | None = None

    @classmethod
    def at(cls, run: Run, plan: Plan) -> RunSnapshot:
        """Return a snapshot of the run as it is now.

        Raises:
            RunError: the run's folder is missing or cannot be read.
        """
        status = run.status
        failure = None if status in LIVE else run.failure
        copied = run.copies_log(LOG_LINES)
        logs = {task: folded(log, LOG_LINES) for task, log in run.logs(4 * LOG_LINES).items()}
        logs |= {ARCHIVE: copied} if copied else {}
        return cls(run, plan, status, run.progress, failure, run.ledger, logs, run.copies)

    @property
    def alive(self) -> bool:
        return self.status in LIVE

    @property
    def actions(self) -> list[str]:
        """The actions that the run allows now."""
        return offered(self.status)


def offered(status: str) -> list[str]:
    """Return the actions that a run in this state allows: stop, resume, train_on, delete."""
    if status in LIVE:
        return [] if status == "stopping" else ["stop"]
    if status == "finished":
        return ["train_on", "delete"]
    return ["resume", "delete"] if status in RESUMABLE else []


def resume_part(run: Run, status: str) -> dict[str, int | None]:
    """Return the step at which a resume goes on, as JSON; null if unknown or not resumable."""
    return {"resumeStep": run.resume_step if status in RESUMABLE else None}


def snapshot_parts(snapshot: RunSnapshot) -> dict[str, Any]:
    """Return what a page shows of a run, in parts; a changed part is sent again."""
    progress = snapshot.progress
    note = " ".join(filter(None, (progress.note, progress.changed)))
    return {
        "head": {
            "id": snapshot.run.id,
            "name": snapshot.run.name,
            "title": snapshot.run.title,
            "about": describe(snapshot.plan),
            "dir": str(snapshot.run.dir),
            "status": snapshot.status,
            "alive": snapshot.alive,
        },
        "progress": {
            **progress_part(progress, alive=snapshot.alive),
            "note": note,
            "waitsFor": list(progress.waits_for),
        },
        "lanes": [
            {
                "task": lane.task,
                "state": lane.phase,
                "step": lane.step,
                "stepsPerSecond": lane.steps_per_second,
                "note": lane.note if snapshot.alive else "",
                "tfConfig": lane.tf_config,
                "killable": snapshot.status == "running" and snapshot.run.killable,
                "restartsAlone": snapshot.plan.restarts_alone(lane.task),
            }
            for lane in progress.lanes
        ]
        + _archive_lane(snapshot.copies),
        "logs": snapshot.logs,
        "ledger": {
            "firstStep": [[entry.label, entry.seconds] for entry in snapshot.ledger.first_step],
            "whole": [[entry.name, entry.seconds] for entry in snapshot.ledger.whole],
            "seconds": snapshot.ledger.seconds,
            "queueSeconds": snapshot.ledger.queue_seconds,
        },
        "results": None if snapshot.alive else results_part(snapshot.run),
        "failure": snapshot.failure and asdict(snapshot.failure),
        "actions": snapshot.actions,
        "resume": resume_part(snapshot.run, snapshot.status),
    }


def results_part(run: Run) -> dict[str, float | None]:
    """Return the results of a run that is over as JSON; null if a number is not known."""
    results, totals = run.results, run.totals
    return {
        "loss": results["loss"],
        "accuracy": results["accuracy"],
        "testAccuracy": results["test_accuracy"],
        "examplesPerSecond": totals.examples_per_second,
        "seconds": totals.seconds,
    }


def progress_part(progress: Progress, *, alive: bool) -> dict[str, Any]:
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


def _archive_lane(copies: Copies | None) -> list[dict[str, Any]]:
    """Return a lane for the copies of a run; none if no copy was tried."""
    if copies is None:
        return []
    state = "copied" if copies.failing_since is None else "failing"
    lane = {"task": ARCHIVE, "state": state, "step": copies.step, "stepsPerSecond": None}
    return [{**lane, "note": "", "tfConfig": ""}]


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
