"""A daemon thread that looks again and again, and can be told to stop looking."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Poller:
    """Calls `look` until it returns None; otherwise again after the seconds it returned.

    An error ends the looking and is given to `failed`; nothing is printed, as that would appear
    in whichever cell runs then.
    """

    def __init__(self, look: Callable[[], float | None], failed: Callable[[Exception], None]):
        self._look = look
        self._failed = failed
        self._woken = threading.Event()
        self._over = False
        self._thread = threading.Thread(target=self._body, name="workbench-poller", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Look no more; returns at once, while a last look may still be under way."""
        self._over = True
        self._woken.set()

    def look_now(self) -> None:
        """Do not wait for the next turn."""
        self._woken.set()

    def wait(self, timeout_seconds: float | None = None) -> bool:
        """Wait until the looking is over; return whether it is."""
        self._thread.join(timeout_seconds)
        return not self._thread.is_alive()

    def _body(self) -> None:
        while not self._over:
            self._woken.clear()
            try:
                pause_seconds = self._look()
            except Exception as error:
                if not self._over:
                    self._failed(error)
                return
            if pause_seconds is None:
                return
            self._woken.wait(pause_seconds)
