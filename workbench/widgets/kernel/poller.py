"""A daemon thread that calls a function repeatedly, until it is stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable

from .background import start_thread


class Poller:
    """A thread that calls `poll` repeatedly, each time after the seconds that `poll` returned.

    None ends the calls. An error ends them and is passed to `failed`. Nothing is printed, because
    the text would appear in the cell that runs at that time.
    """

    def __init__(self, poll: Callable[[], float | None], failed: Callable[[Exception], None]):
        self._poll = poll
        self._failed = failed
        self._over = threading.Event()
        start_thread(self._body, "workbench-poller", self.stop)

    @property
    def over(self) -> bool:
        """Whether the calls have ended, or end after the call in progress."""
        return self._over.is_set()

    def stop(self) -> None:
        """Stop calling `poll`. Return immediately; a last call may still be in progress."""
        self._over.set()

    def _body(self) -> None:
        while not self._over.is_set():
            try:
                pause_seconds = self._poll()
            except Exception as error:
                if not self._over.is_set():
                    self._over.set()
                    self._failed(error)
                return
            if pause_seconds is None:
                self._over.set()
                return
            self._over.wait(pause_seconds)
