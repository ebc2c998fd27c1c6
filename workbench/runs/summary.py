"""The summary of a run: what every list, card and page shows of it, read at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.runs.folder.card import read_card
from workbench.runs.folder.checkpoints import resume_step
from workbench.runs.folder.clocks import task_events
from workbench.runs.folder.failure import Failure, read_failure
from workbench.runs.folder.files import read_script, sha256
from workbench.runs.folder.plan import read_plan
from workbench.runs.folder.state import LIVE, Status, status, supervisor_events
from workbench.runs.made_of import made_of
from workbench.runs.records.cache import read_totals
from workbench.runs.records.history import last_results
from workbench.runs.records.ledger import Ledger, read_ledger
from workbench.runs.records.progress import Progress, read_progress
from workbench.runs.title import title_of

if TYPE_CHECKING:
    from workbench.plan import Plan

RESUMABLE: tuple[Status, ...] = ("stopped", "failed", "lost")
ACTIONS: Mapping[str, tuple[Status, ...]] = {
    "stop": ("queued", "starting", "running"),
    "resume": RESUMABLE,
    "train_on": ("finished",),
    "delete": ("finished", *RESUMABLE),
}
"""The states in which a run allows each action, in the order of the buttons."""


@dataclass(frozen=True)
class Summary:
    """What is shown of a run. `None` is unknown, for example before the first epoch has ended."""

    dir: Path
    name: str
    """The name that the user gave it; may be empty."""
    title: str
    created: float
    """Seconds since 1970."""
    plan: Plan
    made_of: Mapping[str, str]
    """The values that are equal in runs that train the same; see `made_of.made_of`."""
    status: Status
    progress: Progress
    failure: Failure | None
    results: Mapping[str, float | None]
    """Loss and accuracy of training and test; see `last_results`."""
    examples_per_second: float | None
    """In the steady state; of a run that is alive, over the last ten seconds. See `speed`."""
    seconds: float | None
    """How long it took, or has taken until now; see `Ledger.seconds`."""
    ledger: Ledger | None
    """How a run that is alive has spent its time; None if it is over."""
    resume_step: int | None
    """The step at which a resume goes on; None also if the run cannot be resumed."""

    @property
    def id(self) -> str:
        """The run's id: the name of its folder."""
        return self.dir.name

    @property
    def alive(self) -> bool:
        """Whether the run goes on."""
        return self.status in LIVE

    @property
    def actions(self) -> list[str]:
        """The actions that the run allows now."""
        return [name for name, states in ACTIONS.items() if self.status in states]

    def to_json(self) -> dict[str, Any]:
        """Return the results as `workbench run --json` prints them; see `Run.result`."""
        rate = self.examples_per_second
        if self.alive:
            rate = read_totals(self.dir).examples_per_second
        return {
            "run": self.id,
            "dir": str(self.dir),
            "status": self.status,
            "num_replicas_in_sync": self.plan.num_replicas_in_sync,
            "global_batch_size": self.plan.global_batch_size,
            "steps": self.progress.step,
            "examples_per_second": rate,
            **self.results,
            "script_sha256": sha256(read_script(self.dir)),
        }


def read_summary(run_dir: Path) -> Summary:
    """Return the summary of a run as it is now.

    Raises:
        RunError: the run's folder is missing, or one of its files cannot be read.
    """
    card, plan, events = read_card(run_dir), read_plan(run_dir), supervisor_events(run_dir)
    state, progress = status(run_dir, events), read_progress(run_dir)
    ledger = read_ledger(run_dir) if state in LIVE else None
    if ledger is not None:
        speed, seconds = progress.examples_per_second, ledger.seconds
    else:
        totals = read_totals(run_dir)
        speed, seconds = totals.examples_per_second, totals.seconds
    return Summary(
        dir=run_dir,
        name=card.name,
        title=title_of(run_dir, card.name, card.created),
        created=card.created,
        plan=plan,
        made_of=made_of(run_dir, plan),
        status=state,
        progress=progress,
        failure=None if state in LIVE else read_failure(run_dir),
        results=last_results(run_dir, task_events(run_dir, plan.leader, events)),
        examples_per_second=speed,
        seconds=seconds,
        ledger=ledger,
        resume_step=resume_step(run_dir) if state in RESUMABLE else None,
    )
