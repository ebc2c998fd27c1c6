"""Event files: one JSON object a line, appended completely or not at all, read as they grow."""

from __future__ import annotations

import contextlib
import json
import os
import time
from pathlib import Path
from typing import Any

from .files import RunError

Event = dict[str, Any]


class EventLog:
    """The writer of an event file that only this process writes.

    A full disk raises no error: events wait in memory, in order, until a later `flush` succeeds.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._waiting = [b"\n"] if self._is_torn() else []

    def write(self, event: str, **values: Any) -> bool:
        """Append an event with the current time; return whether all events are on disk."""
        line = json.dumps({"time": time.time(), "event": event, **values})
        self._waiting.append(line.encode() + b"\n")
        return self.flush()

    def flush(self) -> bool:
        """Write the waiting events; return whether all of them are on disk."""
        while self._waiting:
            try:
                self._append(self._waiting[0])
            except OSError:
                return False
            del self._waiting[0]
        return True

    def _append(self, line: bytes) -> None:
        fd = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            size = os.fstat(fd).st_size
            if os.write(fd, line) < len(line):
                os.ftruncate(fd, size)
                raise OSError("the line was cut short")
        finally:
            os.close(fd)

    def _is_torn(self) -> bool:
        """Return whether an earlier writer left a line without its end: it would spoil the next."""
        try:
            with self._path.open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - 1))
                return file.read(1) not in (b"", b"\n")
        except OSError:
            return False


class EventTail:
    """The reader of the events appended to a file since the last poll."""

    def __init__(self, path: Path, *, skip_present: bool = False) -> None:
        self._path = path
        self._offset = path.stat().st_size if skip_present and path.exists() else 0

    def poll(self) -> list[Event]:
        """Return the events of new complete lines; a line still being written waits for its end.

        Raises:
            RunError: the file exists but cannot be read.
        """
        try:
            if self._path.stat().st_size == self._offset:
                return []
            with self._path.open("rb") as file:
                file.seek(self._offset)
                content = file.read()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise RunError(
                f"The run's events in {self._path} cannot be read: {error.strerror}. "
                "Give yourself permission to read the file, or restore it from a copy."
            ) from error
        whole = content[: content.rfind(b"\n") + 1]
        self._offset += len(whole)
        return _events(whole)


def read_events(path: Path) -> list[Event]:
    """Return all events of a file in order; none if there is no file. Damaged lines are skipped."""
    return EventTail(path).poll()


def _events(content: bytes) -> list[Event]:
    lines = [line for line in content.splitlines() if line.strip()]
    found = []
    try:
        found = json.loads(b"[%s]" % b",".join(lines))  # one call is several times as fast
    except ValueError:
        for line in lines:
            with contextlib.suppress(ValueError):
                found.append(json.loads(line))
    return [values for values in found if isinstance(values, dict) and "event" in values]


def note_epoch(epochs: dict[int, Event], event: Event) -> None:
    """Put the epoch that an event ends into `epochs`; a start drops the epochs that it repeats.

    The test results of an evaluator for an epoch are added to the event of that epoch's end.
    """
    if event["event"] == "epoch" and "epoch" in event:
        number = int(event["epoch"])
        epochs[number] = {**_tests_of(epochs.get(number)), **event}
    elif event["event"] == "evaluated" and "epoch" in event:
        number = int(event["epoch"])
        if number in epochs:
            epochs[number] = {**epochs[number], **_tests_of(event)}
    elif event["event"] == "start":
        done = int(event.get("step", 0))
        for number in [n for n, e in epochs.items() if int(e.get("step", 0)) > done]:
            del epochs[number]


def _tests_of(event: Event | None) -> Event:
    """Return the values of an event that are about a test pass."""
    return {name: value for name, value in (event or {}).items() if name.startswith("test_")}
