"""The outline of a run: one line of a list.

Its records are read once, when it is over; see `read_totals`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workbench.plan import who_trains
from workbench.runs.folder.clocks import task_events
from workbench.runs.folder.plan import require_fields
from workbench.runs.folder.state import LIVE, Status, since_start, status, supervisor_events
from workbench.runs.folder.tasks import read_numbers, tasks_of
from workbench.runs.records.cache import read_totals
from workbench.runs.records.history import last_results
from workbench.runs.records.ledger import read_ledger
from workbench.runs.records.progress import read_progress, shape_of, steps_done


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
    plan = read_numbers(run_dir)
    require_fields(plan, run_dir / "plan.json")
    tasks, replicas = tasks_of(plan), plan["num_replicas_in_sync"]
    local = shape_of(plan).replicas
    events = supervisor_events(run_dir)
    leader_events = task_events(run_dir, tasks[0], events)
    state = status(run_dir, events)
    speed, seconds = _speed_and_seconds(run_dir, alive=state in LIVE)
    return Outline(
        status=state,
        strategy=plan["strategy"],
        who_trains=who_trains(tasks, replicas, local, virtual=plan["virtual"]),
        model=plan["model"],
        data=plan["data"],
        loop=plan["loop"],
        batch_size=plan["global_batch_size"] or plan["per_replica_batch_size"],
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
