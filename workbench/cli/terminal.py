"""What a command shows and hears in a terminal: progress, Ctrl-C, and how it ends."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Event
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

OK, FAILED = 0, 1


class OutputError(Exception):
    """A file cannot be written. The message gives the rule, the problem found and the fix."""


@contextmanager
def stop_by_interrupt() -> Iterator[Event]:
    """Yield an event that the first Ctrl-C sets. A second Ctrl-C interrupts as usual."""
    stop = Event()

    def note(_: int, __: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)
        stop.set()

    before = signal.signal(signal.SIGINT, note)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


class ProgressLine:
    """A line that is rewritten on a terminal. Elsewhere a new line follows if the text changed."""

    def __init__(self) -> None:
        self._last = ""

    def write(self, text: str, eta_seconds: float | None = None, aside: str = "") -> None:
        """Show the progress. The time left and the aside appear only on a terminal."""
        if sys.stderr.isatty():
            left = "" if eta_seconds is None else f", {timedelta(seconds=round(eta_seconds))} left"
            print(f"\r\033[K{text}{left}{aside}", end="", file=sys.stderr, flush=True)
        elif text != self._last:
            self._last = text
            print(text, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Remove the line."""
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)
