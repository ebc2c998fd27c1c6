"""The outline of a run: one line of a list, from a few small files. Records are not read."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.plan import who_trains
from workbench.runs.folder.clocks import task_events
from workbench.runs.folder.events import Event
from workbench.runs.folder.plan import require_fields
from workbench.runs.folder.state import LIVE, Status, since_start, status, supervisor_events
from workbench.runs.folder.tasks import read_numbers, tasks_of
from workbench.runs.records.history import last_results
from workbench.runs.records.progress import shape_of, steps_done

OVER = ("finished", "stopped", "failed")


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
    """Examples of a step: of all replicas, or of one worker if workers do not step together."""
    steps: int
    """The number of steps done."""
    test_accuracy: float | None
    """The test accuracy of the last recorded epoch."""
    examples_per_second: float | None
    """The speed in the last recorded epoch."""
    seconds: float | None
    """From start to end in all attempts, without waits in the queue; until now, if it is alive."""


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
    results = last_results(run_dir, leader_events)
    state = status(run_dir, events)
    return Outline(
        status=state,
        strategy=plan["strategy"],
        who_trains=who_trains(tasks, replicas, local, virtual=plan["virtual"]),
        model=plan["model"],
        data=plan["data"],
        loop=plan["loop"],
        batch_size=plan["global_batch_size"] or plan["per_replica_batch_size"],
        steps=steps_done(run_dir, plan, since_start(leader_events, events)),
        test_accuracy=results["test_accuracy"],
        examples_per_second=results["examples_per_second"],
        seconds=_seconds([*events, *leader_events], time.time() if state in LIVE else None),
    )


def _seconds(events: Sequence[Event], now: float | None) -> float | None:
    """Return the seconds of all attempts; None before the first start.

    An attempt without a recorded end lasted until the last event of it, or until `now`.
    """
    total, begun, last = None, None, 0.0
    for event in sorted(events, key=_time):
        state, moment = event.get("state"), _time(event)
        if begun is None and state == "starting":
            begun = moment
        elif begun is not None and state in ("queued", *OVER):
            total = (total or 0.0) + (last if state == "queued" else moment) - begun
            begun = None
        last = moment
    if begun is not None:
        total = (total or 0.0) + max(0.0, (now or last) - begun)
    return total


def _time(event: Event) -> float:
    return float(event.get("time") or 0.0)
