"""The channels of a page: of one run, of the runs of a folder, and of the load of the machine."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.devices import tpu
from workbench.devices.usage import UsageMeter
from workbench.feed import Message, Polling, RunFeed, row_of
from workbench.feed.meters import meters
from workbench.runs.folder.files import holds_a_run, visible_names
from workbench.runs.listing import UNREADABLE
from workbench.runs.records.live import Window
from workbench.server.folder import RunsFolder
from workbench.server.frames import packed

if TYPE_CHECKING:
    from workbench.runs import Run

Frame = str | bytes
"""A message on the socket: JSON as text, or, with buffers, the bytes from `frames.packed`."""
POLL_SECONDS = 1.0
SHORTEST_SECONDS = 0.5
Listener = Callable[[Frame], None]
"""A function that passes a frame on to one page. Any thread can call it, and it never waits."""
AT_ONCE = 64
"""Rows in one message, so that a page shows the first rows while the last are still read."""
Row = dict[str, Any]
DRIVER = Path("/proc/driver/nvidia/gpus")
"""It contains a folder for each GPU of the driver; Linux only."""


class Channel(ABC):
    """A source of frames that observes at intervals and sends to all listeners.

    It rests while nobody listens.
    """

    def __init__(self) -> None:
        self.guard = threading.RLock()
        self._listeners: dict[object, Listener] = {}
        self._wishes: dict[object, float] = {}
        self._over: threading.Event | None = None
        self._one_turn = threading.Lock()
        """Held during a poll, because a thread that must end may still be in its last poll."""

    @property
    def has_listeners(self) -> bool:
        """Whether there is a listener."""
        return bool(self._listeners)

    @property
    def pause_seconds(self) -> float:
        """The shortest pause between two turns that a listener asked for."""
        return min(self._wishes.values(), default=POLL_SECONDS)

    def join(self, who: object, listener: Listener, pause_seconds: float = POLL_SECONDS) -> None:
        """Add a listener; `greet` first sends it everything that is known."""
        with self.guard:
            self._listeners[who] = listener
            self._wishes[who] = max(SHORTEST_SECONDS, pause_seconds)
            self.greet(listener)
            if self._over is None:
                self._over = over = threading.Event()
                threading.Thread(
                    target=self._follow, args=(over,), name="workbench-channel", daemon=True
                ).start()

    def leave(self, who: object) -> None:
        """Remove a listener."""
        with self.guard:
            self._listeners.pop(who, None)
            self._wishes.pop(who, None)
            if not self._listeners and self._over is not None:
                self._over.set()
                self._over = None

    def send(self, frame: Frame) -> None:
        """Pass a frame on to all listeners."""
        with self.guard:
            for listener in list(self._listeners.values()):
                listener(frame)

    @abstractmethod
    def greet(self, listener: Listener) -> None:
        """Send a new listener everything known so far; the caller holds the guard."""

    @abstractmethod
    def poll(self) -> float:
        """Observe once and send the news; return the seconds until the next poll."""

    @abstractmethod
    def failed(self, error: Exception) -> None:
        """Report that a poll failed; the next listener that joins starts polling again."""

    def _follow(self, over: threading.Event) -> None:
        while not over.is_set():
            try:
                with self._one_turn:
                    pause_seconds = self.poll()
            except Exception as error:
                self.failed(error)
                break
            over.wait(pause_seconds)
        with self.guard:
            if self._over is over:
                self._over = None


class RunChannel(Channel):
    """A channel that sends the same numbered messages to all pages.

    A new page first gets the complete message, with the number of the last message.
    """

    def __init__(self, run: Run, address: dict[str, str]) -> None:
        """`address` is part of each message, so that a page knows the run of the message.

        Raises:
            RunError: the run's plan cannot be read.
        """
        super().__init__()
        self.run = run
        self._address = address
        self._feed = RunFeed(run)
        self._polling = Polling(self._feed)
        self.over = False
        """Whether the channel failed, so that no more messages can follow."""

    def greet(self, listener: Listener) -> None:
        listener(self._packed(self._feed.whole()))

    def poll(self) -> float:
        with self.guard:  # so a page that joins now gets the news once, in `greet` or from `send`
            poll = self._polling.poll(watched=self.has_listeners)
            if poll.news is not None:
                self.send(self._packed(poll.news))
        return poll.pause_seconds

    def failed(self, error: Exception) -> None:
        self.over = True
        self.send(self._packed(self._feed.end(f"The run cannot be shown: {error}")))

    def closer(self, request: str, window: Window) -> Frame:
        """Return a part of the run in more detail; `request` is the page's name for the request."""
        return self._packed(self._feed.closer(request, window))

    def _packed(self, message: Message) -> Frame:
        return packed({**self._address, "message": message.content}, message.buffers)


class RunsChannel(Channel):
    """A channel that follows the runs of one folder.

    A run that has ended is read again only when its events file changes.
    """

    def __init__(self, folder: RunsFolder, asked: str) -> None:
        """`asked` is the pages' name for the folder."""
        super().__init__()
        self._folder, self._asked = folder, asked
        self._rows: dict[str, Row] = {}
        self._seen: dict[str, object] = {}
        self._whole = False
        """Whether each run has been read once."""

    def greet(self, listener: Listener) -> None:
        listener(self._packed(list(self._rows.values()), [], first=True))

    def poll(self) -> float:
        root = self._folder.path
        today = date.today()  # titles have the dates of other days
        stamps = {name: (today, _stamp(f"{root}{os.sep}{name}")) for name in visible_names(root)}
        due = [name for name, stamp in stamps.items() if not self._rests(name, stamp)]
        there = {name for name in due if holds_a_run(root / name)}
        gone = self._forget({*self._rows} - ({*stamps} - {*due}) - there)
        changed: list[Row] = []
        for name in sorted(there, reverse=True):
            changed += self._news_of(root / name, stamps[name])
            if len(changed) >= AT_ONCE:
                self._send_rows(changed, gone)
                changed, gone = [], []
        first, self._whole = not self._whole, True
        if changed or gone or first:
            self._send_rows(changed, gone)
        return self.pause_seconds

    def failed(self, error: Exception) -> None:
        self._whole = False
        self.send(packed({"channel": "runs", "folder": self._asked, "error": str(error)}))

    def _rests(self, name: str, stamp: object) -> bool:
        """Return whether a run had ended when it was read, with no change to its events since."""
        before = self._rows.get(name)
        if before is None or before["alive"] or before["status"] == UNREADABLE:
            return False
        return self._seen.get(name) == stamp

    def _forget(self, gone: set[str]) -> list[str]:
        """Remove the rows of missing runs; return their names."""
        with self.guard:
            for name in gone:
                del self._rows[name]
                self._seen.pop(name, None)
        return sorted(gone)

    def _news_of(self, path: Path, stamp: object) -> list[Row]:
        row = row_of(self._folder.listed(path.name))
        if not path.exists():
            return []  # it was deleted while it was read
        self._seen[path.name] = stamp
        return [row] if row != self._rows.get(path.name) else []

    def _send_rows(self, changed: list[Row], gone: list[str]) -> None:
        with self.guard:
            self._rows |= {row["id"]: row for row in changed}
            self.send(self._packed(changed, gone, first=False))

    def _packed(self, rows: list[Row], gone: list[str], *, first: bool) -> Frame:
        content = {"rows": rows, "gone": gone, "first": first, "whole": self._whole}
        named = {"channel": "runs", "folder": self._asked, "path": str(self._folder.path)}
        return packed({**named, **content})


def _stamp(path: str) -> object:
    """Return a value that changes when a run is resumed, or when another folder takes its name.

    It is computed for each run every second, so it uses a string path: that costs a third of a
    `Path`.
    """
    try:
        events = os.stat(f"{path}{os.sep}events.jsonl")  # noqa: PTH116
    except OSError:
        return None
    return events.st_mtime_ns, events.st_size, events.st_ino


class DevicesChannel(Channel):
    """A channel that measures once for all pages; it rests while no page shows the load."""

    def __init__(self) -> None:
        super().__init__()
        self._meter = UsageMeter()
        self._last: Frame = ""
        self._tpu_chips = tpu.find(Path("/"), os.environ).chips

    def greet(self, listener: Listener) -> None:
        if self._last:
            listener(self._last)

    def measured(self) -> dict[str, Any]:
        """Measure once and return the meters.

        The processor's load is the mean since the previous measurement.
        """
        gpus = len(list(DRIVER.iterdir())) if DRIVER.is_dir() else 0
        found = meters(self._meter.measure(), gpus=gpus, tpu_chips=self._tpu_chips)
        return {"channel": "devices", "meters": [meter._asdict() for meter in found]}

    def poll(self) -> float:
        frame = packed(self.measured())
        with self.guard:
            self._last = frame
            self.send(frame)
        return self.pause_seconds

    def failed(self, error: Exception) -> None:
        self.send(packed({"channel": "devices", "error": str(error)}))
