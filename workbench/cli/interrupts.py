"""Ctrl-C as a request to stop instead of an immediate end."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType


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
