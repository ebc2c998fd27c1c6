"""The reason why a run failed or was lost, from its supervisor's events or their absence."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workbench.runs.folder.logs import folded, log_tail

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
    return Failure(
        cause="The supervisor ended without recording why: it was killed, or the machine "
        f"went down. {saved}".strip(),
        task="supervisor",
        log_tail=folded(
            log_tail(run_dir / read_plan(run_dir).leader / "log.txt", 4 * LOG_LINES), LOG_LINES
        ),
        fix="Resume the run: it continues from its last checkpoint.",
    )
