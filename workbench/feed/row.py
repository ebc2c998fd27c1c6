"""A run as a row of a list: its name, state and progress, as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench import catalog
from workbench.runs.folder.events import read_events
from workbench.runs.folder.state import LIVE
from workbench.runs.listing import UnreadableRun, why_unreadable
from workbench.runs.made_of import WORK, made_of
from workbench.runs.records.history import last_results

from .snapshot import offered, progress_part, resume_part

if TYPE_CHECKING:
    from workbench.runs import Progress, Run

FAILED = ("failed", "lost")
UNREADABLE = "unreadable"


def row_of(run: Run) -> dict[str, Any]:
    """Return the row of a run in a list; if its folder is damaged, the row has the error."""
    known = {"id": run.id, "name": run.name, "title": run.title, "created": run.created}
    try:
        progress, status = run.progress, run.status
        state, speed = _state(run, progress, status), _speed(run, progress, status)
        return {**known, **state, **_make(run), **_results(run, speed), "error": ""}
    except Exception as error:  # a damaged file must not hide the other rows
        actions = [] if isinstance(run, UnreadableRun) else ["delete"]
        unknown = {"status": UNREADABLE, "alive": False, "about": "", "actions": actions}
        return {**known, **unknown, "error": why_unreadable(error)}


def _state(run: Run, progress: Progress, status: str) -> dict[str, Any]:
    alive = status in LIVE
    failure = run.failure if status in FAILED else None
    return {
        "status": status,
        "alive": alive,
        **progress_part(progress, alive=alive),
        "note": failure.cause if failure else progress.note,
        "actions": offered(status),
        **resume_part(run, status),
    }


def _make(run: Run) -> dict[str, Any]:
    plan = run.plan
    data, model = catalog.label_of("data", plan.data), catalog.label_of("model", plan.model)
    loop = catalog.label_of("loop", plan.loop)
    strategy = f"{plan.strategy_label} on {plan.who_trains}"
    made = made_of(run)
    return {
        # First what no title says: a narrow list cuts the end off.
        "about": f"batch {made['batch']}, {loop}, {data}, {model}, {strategy}",
        "work": {name: made[name] for name in WORK},
    }


def _speed(run: Run, progress: Progress, status: str) -> float | None:
    """Return examples per second: of a run that trains, over the last ten seconds, else steady."""
    return progress.examples_per_second if status in LIVE else run.totals.examples_per_second


def _results(run: Run, examples_per_second: float | None) -> dict[str, Any]:
    """Return the results of a run; None is unknown, as before the first epoch ends."""
    events = read_events(run.dir / run.plan.leader / "events.jsonl")
    results = last_results(run.dir, events)
    return {"results": {**results, "examples_per_second": examples_per_second}}
