"""Event files: one JSON object a line, appended whole or not at all, read while they grow."""

from __future__ import annotations

import contextlib
import json
import os
import time
from pathlib import Path
from typing import Any

Event = dict[str, Any]


class EventLog:
    """Appends events to a file that only this process writes.

    A full disk does not raise: events wait in memory, in order, until a later `flush` succeeds.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._waiting: list[bytes] = []
        self._mend_torn_end()

    def write(self, event: str, **values: Any) -> bool:
        """Append an event, stamped with the time; return whether all events are on disk."""
        line = json.dumps({"time": time.time(), "event": event, **values})
        self._waiting.append(line.encode() + b"\n")
        return self.flush()

    def flush(self) -> bool:
        """Write what waits; return whether all of it is on disk."""
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

    def _mend_torn_end(self) -> None:
        """End a line that an earlier writer left torn, so that it spoils no line of ours."""
        with contextlib.suppress(FileNotFoundError):
            content = self._path.read_bytes()
            if content and not content.endswith(b"\n"):
                self._append(b"\n")


class EventTail:
    """Reads the events appended to a file since the last look."""

    def __init__(self, path: Path, *, skip_present: bool = False) -> None:
        self._path = path
        self._offset = path.stat().st_size if skip_present and path.exists() else 0

    def poll(self) -> list[Event]:
        """Return the new whole lines' events; a line still being written waits for its end."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                content = file.read()
        except FileNotFoundError:
            return []
        whole = content[: content.rfind(b"\n") + 1]
        self._offset += len(whole)
        return _events(whole)


def read_events(path: Path) -> list[Event]:
    """Return all events of a file in order; none where there is no file. Torn lines are skipped."""
    return EventTail(path).poll()


def _events(lines: bytes) -> list[Event]:
    events = []
    for line in lines.splitlines():
        with contextlib.suppress(ValueError):
            values = json.loads(line)
            if isinstance(values, dict) and "event" in values:
                events.append(values)
    return events
