"""The facts that a report shows about one run, read once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.charts import REPLICA_COLORS, REPLICA_DASHES
from workbench.runs.folder.files import CERTIFICATE, read_json
from workbench.runs.records.live import LiveRun, Window

if TYPE_CHECKING:
    import pandas as pd

    from workbench.devices import Devices
    from workbench.plan import Plan
    from workbench.points import EpochPoints, Points
    from workbench.runs import Failure, Run
    from workbench.runs.records.ledger import Ledger

MOST_POINTS = 400
"""The limit for one line: about the number of columns of a chart on the page."""
MOST_POINTS_IN_ALL = 60_000
"""The limit for all lines together, so that the page stays small."""
FEWEST_POINTS = 50


@dataclass(frozen=True)
class Subject:
    """A run of a report."""

    run: Run
    anchor: str
    """The name that links to its part of the page use."""
    title: str
    color: str
    dash: str
    """The dashes of its lines, so that both of two overlapping lines are visible."""
    plan: Plan
    result: dict[str, Any]
    """The result, as `Run.result` returns it."""
    devices: Devices | None
    points: Points
    epoch_points: EpochPoints
    epochs: pd.DataFrame
    ledger: Ledger
    failure: Failure | None
    missing: list[tuple[int, int]]
    certificate: dict[str, Any] | None
    script: str


def subjects_of(runs: Sequence[Run]) -> list[Subject]:
    """Read the runs.

    Raises:
        RunError: a folder is missing, or a file in it is damaged.
    """
    plans = [run.plan for run in runs]
    lines = sum(map(_lines, plans)) if len(plans) > 1 else 3 * (1 + _replicas(plans[0]))
    most = max(FEWEST_POINTS, min(MOST_POINTS, MOST_POINTS_IN_ALL // lines))
    titles = [run.dated_title for run in runs]
    return [
        _subject(
            run, plan, number, title if titles.count(title) == 1 else f"{title} ({run.id})", most
        )
        for number, (run, plan, title) in enumerate(zip(runs, plans, titles, strict=True))
    ]


def _lines(plan: Plan) -> int:
    """Return the number of a run's lines on a page of several runs.

    Each chart has one line of the run, or one for each worker if workers are asynchronous.
    """
    return 4 * (1 if plan.synchronous else plan.workers)


def _replicas(plan: Plan) -> int:
    return plan.workers * plan.local_replicas


def _subject(run: Run, plan: Plan, number: int, title: str, most_points: int) -> Subject:
    live = LiveRun(run.dir, run.plan)
    live.poll()
    result = run.result()
    certificate = run.dir / CERTIFICATE
    return Subject(
        run=run,
        anchor=f"run-{number + 1}",
        title=title,
        color=REPLICA_COLORS[number % len(REPLICA_COLORS)],
        dash=REPLICA_DASHES[number % len(REPLICA_DASHES)],
        plan=plan,
        result=result,
        devices=run.devices,
        points=live.closer(Window(0, max(0, int(result["steps"] or 0) - 1), most_points)),
        epoch_points=live.epochs(),
        epochs=run.epochs(),
        ledger=run.ledger,
        failure=run.failure,
        missing=run.missing,
        certificate=read_json(certificate) if certificate.exists() else None,
        script=run.script,
    )
