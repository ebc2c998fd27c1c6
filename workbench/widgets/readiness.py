"""Makes ready to train while the form is being filled in, and says so."""

from __future__ import annotations

import sys
import threading

from workbench.runs import WarmStart

from . import markup
from .background import run_in_background
from .page_parts import html

LOADING = "Loading TensorFlow ahead of Train ..."
READY = "TensorFlow is loaded: Train starts at once."


class Readiness:
    """Keeps one warm start for the interpreter of the form; a line tells whether it is ready."""

    def __init__(self) -> None:
        self.box = html(description="Readiness")
        self._lock = threading.Lock()
        self._warm: WarmStart | None = None
        self._starting = False

    def ask(self, interpreter: str | None) -> None:
        """Start one that fits, or keep the one there is; returns at once."""
        interpreter = interpreter or sys.executable
        with self._lock:
            warm = self._warm
            if warm is not None and warm.fits(interpreter):
                warm.keep()
                return
            if self._starting:
                return
            self._starting = True
        if warm is not None:
            warm.close()
        run_in_background(lambda: self._start(interpreter), lambda _: None, self._failed)

    def take(self) -> WarmStart | None:
        """Hand the warm start out, for one run."""
        with self._lock:
            warm, self._warm = self._warm, None
        self._show()
        return warm

    def close(self) -> None:
        """Let it end."""
        warm = self.take()
        if warm is not None:
            warm.close()

    def _start(self, interpreter: str) -> None:
        warm = WarmStart(interpreter, self._show)
        with self._lock:
            self._warm, self._starting = warm, False
        self._show()

    def _show(self) -> None:
        warm = self._warm
        if warm is None or warm.gone:
            self.box.value = ""
        else:
            self.box.value = markup.quiet(READY if warm.ready else LOADING)

    def _failed(self, error: Exception) -> None:
        """Say nothing: Train works without it, and names what is wrong with the interpreter."""
        with self._lock:
            self._starting = False
