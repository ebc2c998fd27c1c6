"""Something that is looked at in a thread of its own while anybody hears."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable

Frame = str | bytes
"""A message on the socket: JSON as text, or, with buffers, as `frames.packed` has it."""
LOOK_SECONDS = 1.0
SHORTEST_SECONDS = 0.5
Hear = Callable[[Frame], None]
"""Passes a frame on to one page; can be called from any thread, and never waits."""


class Channel(ABC):
    """Looks again and again, and tells those who hear; rests where nobody does."""

    def __init__(self) -> None:
        self.guard = threading.RLock()
        self._hearers: dict[object, Hear] = {}
        self._wishes: dict[object, float] = {}
        self._over: threading.Event | None = None
        self._one_turn = threading.Lock()
        """Held for a turn: a thread that is to end may still take its last."""

    @property
    def heard(self) -> bool:
        """Whether anybody hears."""
        return bool(self._hearers)

    @property
    def pause_seconds(self) -> float:
        """The shortest pause between two looks that anybody wishes."""
        return min(self._wishes.values(), default=LOOK_SECONDS)

    def join(self, who: object, hear: Hear, pause_seconds: float = LOOK_SECONDS) -> None:
        """Tell this one, too, from now on: first all that is known, by `greet`."""
        with self.guard:
            self._hearers[who] = hear
            self._wishes[who] = max(SHORTEST_SECONDS, pause_seconds)
            self.greet(hear)
            if self._over is None:
                self._over = over = threading.Event()
                threading.Thread(
                    target=self._follow, args=(over,), name="workbench-channel", daemon=True
                ).start()

    def leave(self, who: object) -> None:
        """Tell this one no more."""
        with self.guard:
            self._hearers.pop(who, None)
            self._wishes.pop(who, None)
            if not self._hearers and self._over is not None:
                self._over.set()
                self._over = None

    def tell(self, frame: Frame) -> None:
        """Pass a frame on to all who hear."""
        with self.guard:
            for hear in list(self._hearers.values()):
                hear(frame)

    @abstractmethod
    def greet(self, hear: Hear) -> None:
        """Tell a new one what is known so far; called with the guard held."""

    @abstractmethod
    def turn(self) -> float:
        """Look and tell; return the seconds until the next turn."""

    @abstractmethod
    def failed(self, error: Exception) -> None:
        """Tell that a turn failed; the next who joins has it tried again."""

    def _follow(self, over: threading.Event) -> None:
        while not over.is_set():
            try:
                with self._one_turn:
                    pause_seconds = self.turn()
            except Exception as error:
                self.failed(error)
                break
            over.wait(pause_seconds)
        with self.guard:
            if self._over is over:
                self._over = None
