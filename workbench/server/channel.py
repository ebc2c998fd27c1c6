"""A channel: it observes something in its own thread while a page listens."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable

Frame = str | bytes
"""A message on the socket: JSON as text, or, with buffers, the bytes from `frames.packed`."""
POLL_SECONDS = 1.0
SHORTEST_SECONDS = 0.5
Listener = Callable[[Frame], None]
"""A function that passes a frame on to one page. Any thread can call it, and it never waits."""


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
