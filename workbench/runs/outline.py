"""The outline of a run: one line of a list.

Its records are read once, when it is over; see `read_totals`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workbench.runs.folder.clocks import task_events
from workbench.runs.folder.plan import read_plan
from workbench.runs.folder.state import LIVE, Status, since_start, status, supervisor_events
from workbench.runs.records.cache import read_totals
from workbench.runs.records.history import last_results
from workbench.runs.records.ledger import read_ledger
from workbench.runs.records.progress import read_progress, steps_done


@dataclass(frozen=True)
class Outline:
    """The values that a list shows of a run. `None` means unknown."""

    status: Status
    strategy: str
    who_trains: str
    """For example `2 workers x 1 replica`."""
    model: str
    data: str
    loop: str
    batch_size: int
    """Examples of a step: of all replicas, or of one worker if workers are asynchronous."""
    steps: int
    """The number of steps done."""
    test_accuracy: float | None
    """See `last_results`."""
    examples_per_second: float | None
    """In the steady state; of a run that trains, over the last ten seconds. See `speed`."""
    seconds: float | None
    """How long it took, or has taken until now; see `Ledger.seconds`."""


def read_outline(run_dir: Path) -> Outline:
    """Return the outline of a run.

    Raises:
        RunError: the run's folder is missing, or one of its files cannot be read.
    """
    plan, events = read_plan(run_dir), supervisor_events(run_dir)
    leader_events = task_events(run_dir, plan.leader, events)
    state = status(run_dir, events)
    speed, seconds = _speed_and_seconds(run_dir, alive=state in LIVE)
    return Outline(
        status=state,
        strategy=plan.strategy,
        who_trains=plan.who_trains,
        model=plan.model,
        data=plan.data,
        loop=plan.loop,
        batch_size=plan.examples_per_step,
        steps=steps_done(run_dir, plan, since_start(leader_events, events)),
        test_accuracy=last_results(run_dir, leader_events)["test_accuracy"],
        examples_per_second=speed,
        seconds=seconds,
    )


def _speed_and_seconds(run_dir: Path, *, alive: bool) -> tuple[float | None, float | None]:
    if alive:
        return read_progress(run_dir).examples_per_second, read_ledger(run_dir).seconds
    totals = read_totals(run_dir)
    return totals.examples_per_second, totals.seconds
