"""What a report tells of one run, read once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.charts import REPLICA_COLORS, REPLICA_DASHES
from workbench.runs.folder.files import read_json
from workbench.runs.records.live import LiveRun, Window

if TYPE_CHECKING:
    import pandas as pd

    from workbench.devices import Devices
    from workbench.plan import Plan
    from workbench.points import EpochPoints, Points
    from workbench.runs import Failure, Run
    from workbench.runs.records.ledger import Ledger

MOST_POINTS = 400
"""Of a line: as many as a chart of the page has columns."""
MOST_POINTS_IN_ALL = 60_000
"""Of all lines, so that the page stays small."""
FEWEST_POINTS = 50


@dataclass(frozen=True)
class Subject:
    """A run of a report."""

    run: Run
    anchor: str
    """What a link to its part of the page names."""
    title: str
    color: str
    dash: str
    """Of its lines, so that of two on one another both are seen."""
    plan: Plan
    result: dict[str, Any]
    """As `Run.result`."""
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
        RunError: a folder is gone, or a file of it is torn.
    """
    plans = [run.plan for run in runs]
    lines = sum(map(_lines, plans)) if len(plans) > 1 else 3 * (1 + _replicas(plans[0]))
    most = max(FEWEST_POINTS, min(MOST_POINTS, MOST_POINTS_IN_ALL // lines))
    titles = [run.name or run.id for run in runs]
    return [
        _subject(
            run, plan, number, title if titles.count(title) == 1 else f"{title} ({run.id})", most
        )
        for number, (run, plan, title) in enumerate(zip(runs, plans, titles, strict=True))
    ]


def _lines(plan: Plan) -> int:
    """Return how many lines a run has in charts of several: one, or one a worker, in each."""
    return 4 * (1 if plan.synchronous else plan.workers)


def _replicas(plan: Plan) -> int:
    return plan.workers * plan.local_replicas


def _subject(run: Run, plan: Plan, number: int, title: str, most_points: int) -> Subject:
    live = LiveRun(run.dir, run.plan)
    live.poll()
    result = run.result()
    certificate = run.dir / "certificate.json"
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
