"""The state of a run's copies in its archive, as the process that makes them recorded it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from workbench.runs.folder.events import Event, read_events

COPY_EVENTS = "archive.jsonl"


@dataclass(frozen=True)
class Copies:
    """The state of a run's copies."""

    folder: str
    """The folder of the copy itself."""
    step: int | None
    """The step from which the copy can resume; None before the first copy."""
    copied_at: float | None
    """The time of the last copy, in seconds since 1970."""
    failing_since: float | None
    cause: str = ""
    fix: str = ""

    @property
    def error(self) -> str:
        """The reason why no copies are made, and the fix; empty if copies are made."""
        if self.failing_since is None:
            return ""
        since = _clock(self.failing_since)
        return f"No copy has been made since {since}: {self.cause}. {self.fix}"


def read_copies(run_dir: Path) -> Copies | None:
    """Return the state of a run's copies; None if none was recorded.

    Raises:
        RunError: the file with their events cannot be read.
    """
    copied, failing = None, None
    for event in read_events(run_dir / COPY_EVENTS):
        if event["event"] == "archived":
            copied, failing = event, None
        elif event["event"] == "unarchived":
            failing = {**event, "time": (failing or event)["time"]}
    newest = failing or copied
    if newest is None:
        return None
    return Copies(
        folder=str(newest.get("folder", "")),
        step=int(copied["step"]) if copied else None,
        copied_at=float(copied["time"]) if copied else None,
        failing_since=float(failing["time"]) if failing else None,
        cause=str((failing or {}).get("cause", "")),
        fix=str((failing or {}).get("fix", "")),
    )


def copies_log(run_dir: Path, lines: int) -> str:
    """Return the last events of a run's copies, a line each; empty if there are none."""
    return "\n".join(_line(event) for event in read_events(run_dir / COPY_EVENTS)[-lines:])


def _line(event: Event) -> str:
    at = _clock(float(event["time"]))
    if event["event"] == "archived":
        return f"{at} copied to {event.get('folder')}, continues from step {event.get('step'):,}"
    return f"{at} not copied: {event.get('cause')}. {event.get('fix')}"


def _clock(moment: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(moment))
