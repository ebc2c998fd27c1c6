"""The state of a run, from its supervisor's last event and from its lock."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from workbench import flock
from workbench.plan.plan import CHIEF

from . import locks
from .archive import MARK, is_copy
from .clocks import DIFFERS, attempt_begins, task_events
from .events import Event, read_events
from .files import CARD, TASK, RunError, read_json
from .plan import read_plan
from .trust import was_started

Status = Literal[
    "queued", "starting", "running", "stopping", "finished", "stopped", "failed", "lost"
]
LOCK, POLL_SECONDS = "lock", 0.01
"""The file in a task's folder that its process locks; the time between two looks at it."""
LIVE: tuple[Status, ...] = ("queued", "starting", "running", "stopping")


def run_lock(run_dir: Path) -> Path:
    """Return the run's lock file, in the state folder with which the run was made."""
    return _lock_of(run_dir, home_of(run_dir))


def take_lock(run_dir: Path, patience_seconds: float = 0.3, *, foreign: bool = False) -> int | None:
    """Lock a run for this process and its children; None if it is alive. See `locks.take`.

    The card of a `foreign` run can name any folder as its state folder, so no file is made there.
    The lock file notes the identity of its run folder, because a folder can be renamed.
    """
    if _lives_renamed(run_dir):
        return None
    until = time.monotonic() + patience_seconds
    while _lives_by_hand(run_dir):
        if time.monotonic() > until:
            return None
        time.sleep(POLL_SECONDS)
    path = run_lock(run_dir)
    if foreign and not path.is_file():
        path = locks.lock_path(locks.state_dir(), home_of(run_dir))
    lock = locks.take(path, patience_seconds)
    if lock is not None:
        with contextlib.suppress(OSError):  # on a full disk, a renamed folder is not recognized
            os.ftruncate(lock, 0)
            os.pwrite(lock, _identity(run_dir), 0)
    return lock


def _lock_of(run_dir: Path, home: Path) -> Path:
    state = read_json(run_dir / CARD).get("state_dir")
    return locks.lock_path(Path(state) if state else locks.state_dir(), home)


def _lives_renamed(run_dir: Path) -> bool:
    """Return whether the run is alive, but started while its folder still had its first name."""
    first = Path(str(read_json(run_dir / CARD).get("id") or run_dir.name)).name
    if first == run_dir.name or is_copy(run_dir):
        return False
    lock = _lock_of(run_dir, run_dir.with_name(first))
    try:
        return flock.held(lock) and lock.read_bytes() == _identity(run_dir)
    except OSError:
        return False


def _identity(folder: Path) -> bytes:
    """Return an identity that a folder keeps after a rename and shares with no copy of it."""
    found = folder.stat()
    return f"{found.st_dev} {found.st_ino}".encode()


def home_of(run_dir: Path) -> Path:
    """Return the folder in which a run lives; for a copy in an archive, the original's folder.

    A copy from elsewhere can name any folder: only a folder in which this machine started a run is
    the original's.
    """
    if not is_copy(run_dir):
        return run_dir
    original = Path(str(read_json(run_dir / MARK).get("run_dir")))
    return original if was_started(original) else run_dir


def is_alive(run_dir: Path) -> bool:
    """Return whether the run's supervisor or its trainer is alive."""
    return flock.held(run_lock(run_dir)) or _lives_renamed(run_dir) or _lives_by_hand(run_dir)


def _lives_by_hand(run_dir: Path) -> bool:
    """Return whether the leading task of a run that was started by hand is alive."""
    if not read_json(run_dir / CARD).get("by_hand"):
        return False
    with contextlib.suppress(OSError):  # a disk without locks
        return flock.held(run_dir / CHIEF / LOCK) or flock.held(run_dir / TASK / LOCK)
    return False


def supervisor_events(run_dir: Path) -> list[Event]:
    """Return the events of a run's supervisors, from all its attempts.

    A process that was started by hand writes its states there, too.
    """
    return read_events(run_dir / "events.jsonl")


def last_state(events: Sequence[Event]) -> Event | None:
    """Return a supervisor's last state event; None before the first."""
    return next((event for event in reversed(events) if event["event"] == "state"), None)


def status(run_dir: Path, events: Sequence[Event] | None = None) -> Status:
    """Return which of the eight states the run is in.

    A run whose supervisor died is lost, unless its trainer wrote that it finished anyway, or that
    it stopped as requested. `events` are the supervisor's events, if they have just been read.

    Raises:
        RunError: the folder is missing or its run.json cannot be read.
    """
    event = last_state(supervisor_events(run_dir) if events is None else events)
    if event is None or event["state"] in LIVE:
        if is_alive(run_dir):
            return event["state"] if event else "queued"
        event = last_state(supervisor_events(run_dir))  # it may have ended since
    if event is None or event["state"] in LIVE:
        return _without_supervisor(run_dir, event)
    state: Status = event["state"]
    return state


def attempt_events(run_dir: Path) -> list[Event]:
    """Return the leading task's events since its last start by a supervisor."""
    events = supervisor_events(run_dir)
    return since_start(task_events(run_dir, read_plan(run_dir).leader, events), events)


def since_start(task_events: Sequence[Event], events: Sequence[Event]) -> list[Event]:
    """Return a task's events of the last attempt that its supervisor's events start.

    The times of all these events are on the supervisor's clock: see `clocks.task_events`.
    """
    begins = attempt_begins(events)
    since = events[begins[-1]]["time"] if begins else 0.0
    return [event for event in task_events if event.get("time", 0.0) >= since]


def tf_configs(events: Sequence[Event]) -> dict[str, Any]:
    """Return the TF_CONFIG of each task of the newest attempt; empty for a single task."""
    for event in reversed(events):
        if event.get("state") == "starting":
            return dict(event.get("tf_configs") or {})
    return {}


def restarts_of(events: Sequence[Event]) -> dict[str, list[Event]]:
    """Return, for each task of the newest attempt that ended and was started again, these events.

    `events` are the supervisor's events.
    """
    found: dict[str, list[Event]] = {}
    for event in _newest_attempt(events):
        if event["event"] == "restarted":
            found.setdefault(str(event.get("task")), []).append(event)
    return found


def clocks_ahead_seconds(events: Sequence[Event]) -> dict[str, float]:
    """Return, for each task of the newest attempt whose host's clock differs, by how much.

    A clock that is behind the supervisor's has a negative number. `events` are the supervisor's
    events.
    """
    return {
        str(event.get("task")): float(event.get("ahead_seconds") or 0.0)
        for event in _newest_attempt(events)
        if event["event"] == DIFFERS
    }


def _newest_attempt(events: Sequence[Event]) -> Sequence[Event]:
    begins = attempt_begins(events)
    return events[begins[-1] :] if begins else events


def last_silence(events: Sequence[Event]) -> Event | None:
    """Return the `stalled` event of a task that has not recovered since; None if all go on."""
    for event in reversed(events):
        if event["event"] == "stalled":
            return event
        if event["event"] == "recovered" or event.get("state") == "starting":
            return None
    return None


def alive_error(run_dir: Path, action: str) -> RunError:
    """Return the error for an action on a living run that only an ended run allows."""
    event = last_state(supervisor_events(run_dir))
    return RunError(
        f"{run_dir.name} cannot be {action}, because it is not over "
        f"({event['state'] if event else 'queued'}). Stop it first, or let it finish."
    )


def _without_supervisor(run_dir: Path, event: Event | None) -> Status:
    try:
        names = [task_event["event"] for task_event in attempt_events(run_dir)]
    except RunError:  # it cannot be read, and so can only be deleted
        return "lost"
    if event is not None and "finished" in names:
        return "finished"
    if event is not None and event["state"] == "stopping" and "stopped" in names:
        return "stopped"
    return "lost"
