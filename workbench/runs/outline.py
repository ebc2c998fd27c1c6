"""The outline of a run: one line of a list, from a few small files. Records are not read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workbench.plan import who_trains
from workbench.runs.folder.events import read_events
from workbench.runs.folder.plan import require_fields
from workbench.runs.folder.state import Status, since_start, status, supervisor_events
from workbench.runs.folder.tasks import read_numbers, tasks_of
from workbench.runs.records.history import last_results
from workbench.runs.records.progress import shape_of, steps_done


@dataclass(frozen=True)
class Outline:
    """The values that a list shows of a run. `None` means unknown."""

    status: Status
    strategy: str
    who_trains: str
    """For example `2 workers x 1 replica`."""
    data: str
    steps: int
    """The number of steps done."""
    test_accuracy: float | None
    """The test accuracy of the last recorded epoch."""


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
    leader_events = read_events(run_dir / tasks[0] / "events.jsonl")
    return Outline(
        status=status(run_dir, events),
        strategy=plan["strategy"],
        who_trains=who_trains(tasks, replicas, local, virtual=plan["virtual"]),
        data=plan["data"],
        steps=steps_done(run_dir, plan, since_start(leader_events, events)),
        test_accuracy=last_results(run_dir, leader_events)["test_accuracy"],
    )
