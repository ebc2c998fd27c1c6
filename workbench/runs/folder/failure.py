"""The reason why a run failed or was lost, from its supervisor's events or their absence."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workbench.runs.folder.logs import folded, log_tail

from .clocks import attempt_begins
from .plan import read_plan
from .state import attempt_events, last_state, status, supervisor_events

LOG_LINES = 30


@dataclass(frozen=True)
class Failure:
    """The reason why a run failed or was lost: cause, task, end of the log, and fix."""

    cause: str
    task: str
    log_tail: str
    fix: str


def read_failure(run_dir: Path) -> Failure | None:
    """Return the reason why a run failed or was lost; None in every other state."""
    state = status(run_dir)
    if state == "lost":
        return _loss(run_dir)
    event = last_state(supervisor_events(run_dir))
    if state != "failed" or event is None:
        return None
    cause, task, log, fix = (str(event.get(name, "")) for name in ("cause", "task", "log", "fix"))
    return Failure(cause, task, folded(log, LOG_LINES), fix)


def _loss(run_dir: Path) -> Failure:
    names = [event["event"] for event in attempt_events(run_dir)]
    saved = "The trainer saved a checkpoint and ended. " if "stopped" in names else ""
    events = supervisor_events(run_dir)
    begins = attempt_begins(events)
    by_hand = bool(begins) and bool(events[begins[-1]].get("by_hand"))
    who = "process that was started by hand" if by_hand else "supervisor"
    leader = read_plan(run_dir).leader
    return Failure(
        cause=f"The {who} ended without recording why: it was killed, or the machine "
        f"went down. {saved}".strip(),
        task=leader if by_hand else "supervisor",
        log_tail="" if by_hand else _log_of(run_dir / leader),
        fix="Resume the run: it continues from its last checkpoint.",
    )


def _log_of(task: Path) -> str:
    return folded(log_tail(task / "log.txt", 4 * LOG_LINES), LOG_LINES)
