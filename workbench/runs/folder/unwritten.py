"""Data that a run could not write to its disk, and the fix."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from .checkpoints import saves_in
from .events import Event

ROOM_BYTES = 64 * 1024
"""With less free space than this on its disk, a run writes no more than a few lines."""
MOST_CHARACTERS = 200
ROOM_FIX = "Make room on the disk"
_ABOUT_ROOM = re.compile(
    "No space left on device|(?:disk )?quota exceeded|file too large", re.IGNORECASE
)


def is_full(folder: Path) -> bool:
    """Return whether the disk of a folder has no room left; False if that is unknown."""
    try:
        disk = os.statvfs(folder)
    except OSError:
        return False
    blocks = disk.f_bavail if os.geteuid() else disk.f_bfree  # some are reserved for root
    return bool(disk.f_blocks) and blocks * disk.f_frsize < ROOM_BYTES


def disk_note(folder: Path) -> str:
    """Return a note on the full disk of a living run; empty if the disk has room."""
    if not is_full(folder):
        return ""
    return (
        f"The disk of {folder} is full: events, checkpoints and records wait or are lost. "
        f"{ROOM_FIX}."
    )


def losses_of(events: Sequence[Event], *, living: bool) -> str:
    """Return in words the data that an attempt could not write, or waits to write; else empty."""
    return " ".join(filter(None, _sentences(events, living=living)))


def why_no_model(events: Sequence[Event]) -> str:
    """Return the reason why a finished attempt saved no model; empty if that is unknown."""
    lost = _last(events, "model_not_saved")
    return "" if lost is None else f"It could not be saved: {_error(lost)}"


def _sentences(events: Sequence[Event], *, living: bool) -> Iterable[str]:
    over = {"checkpoint", "model_saved", "model_not_saved", "checkpoint_failed"}
    last = next((event for event in reversed(events) if event["event"] in {"no_room", *over}), None)
    waits = living and last is not None and last["event"] == "no_room"
    if waits and last is not None:
        yield f"Waits for room on its disk to save {last.get('waits_to_save')}. {ROOM_FIX}."
    if _last(events, "start"):
        for event in (event for event in events if event["event"] == "checkpoint_damaged"):
            name = Path(str(event.get("checkpoint"))).name
            yield f"Checkpoint {name} could not be read, so the run continued from an older one."
    failed = _last(events, "checkpoint_failed")
    if failed is not None and not waits and not saves_in(events[events.index(failed) :]):
        step = f"{failed.get('step', 0):,}"
        yield f"The checkpoint of step {step} could not be saved: {_error(failed)}"
    if steps := sum(int(event.get("steps", 0)) for event in events if _unrecorded(event)):
        why = _error(next(filter(_unrecorded, reversed(events))))
        yield f"{steps:,} steps were trained but not recorded completely: {why}"
    if lost := _last(events, "model_not_saved"):
        again = "Then resume the run for one more epoch, which saves it again."
        yield f"The trained model could not be saved: {_error(lost)} {again}"


def _unrecorded(event: Event) -> bool:
    return bool(event["event"] == "unrecorded")


def _last(events: Sequence[Event], name: str, after: Event | None = None) -> Event | None:
    """Return the last event of that name; if `after` is given, only from the events after it."""
    start = 0 if after is None else events.index(after) + 1
    return next((event for event in reversed(events[start:]) if event["event"] == name), None)


def _error(event: Event) -> str:
    """Return the error of an event as a sentence; for a full disk, that error and the fix."""
    text = " ".join(str(event.get("error", "")).split())
    if room := _ABOUT_ROOM.search(text):  # TensorFlow names its own file and operation first
        return f"{room[0][0].upper()}{room[0][1:]}. {ROOM_FIX}."
    shortened = text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]} ..."
    return shortened if shortened.endswith((".", "...")) else f"{shortened}."
