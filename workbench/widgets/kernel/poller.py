"""A daemon thread that looks again and again, until it is told to stop."""

from __future__ import annotations

import threading
from collections.abc import Callable

from .background import start_thread


class Poller:
    """Calls `look` again and again, each time after the seconds it returned.

    An error ends the looking and is given to `failed`; nothing is printed, as that would appear
    in whichever cell runs then.
    """

    def __init__(self, look: Callable[[], float], failed: Callable[[Exception], None]):
        self._look = look
        self._failed = failed
        self._over = threading.Event()
        start_thread(self._body, "workbench-poller", self.stop)

    def stop(self) -> None:
        """Look no more; returns at once, while a last look may still be under way."""
        self._over.set()

    def _body(self) -> None:
        while not self._over.is_set():
            try:
                pause_seconds = self._look()
            except Exception as error:
                if not self._over.is_set():
                    self._failed(error)
                return
            self._over.wait(pause_seconds)
