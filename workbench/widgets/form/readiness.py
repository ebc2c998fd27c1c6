"""The preparation for training while the person fills in the form, and a line that reports it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from workbench.forking import ForkServer
from workbench.runs.processes.environment import Launch
from workbench.runs.processes.forks import fork_server
from workbench.widgets.kernel.background import run_in_background
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import html

LOADING = "Loading TensorFlow in advance, so that Train starts immediately ..."
READY = "TensorFlow is loaded: Train starts immediately."
QUEUE = "TensorFlow is loaded. A new run waits for {queue}."
POLL_SECONDS = 0.5
RETRY_SECONDS = 60.0


class Readiness:
    """A fork server for the interpreter of the form. A line shows whether it is ready."""

    def __init__(self, queue: Callable[[], str] = lambda: "") -> None:
        """`queue` returns what a new run would wait for, in words; empty: nothing."""
        self._queue = queue
        self.box = html(description="Readiness")
        self._lock = threading.Lock()
        self._server: ForkServer | None = None
        self._follows = False
        """Whether a thread follows the state of the fork server."""
        self._again_at = 0.0
        """The monotonic time, in seconds, at which a fork server that forks nothing is retried."""
        self._closed = threading.Event()

    def ask(self, interpreter: str, *, legacy: bool) -> None:
        """Start a fork server that fits, or keep the present one. Return immediately."""
        launch = Launch(interpreter, Path.cwd(), legacy_keras=legacy)
        wanted = fork_server(launch)
        with self._lock:
            held = self._server
            known = held is not None and held.name == wanted.name
            if held is not None and known and (self._follows or time.monotonic() < self._again_at):
                held.keep()
                return
            self._server, self._follows = wanted, True
            if held is not None:
                held.release()
        run_in_background(
            lambda: self._follow(wanted), lambda _: None, self._failed, self._closed.set
        )

    def rest(self) -> None:
        """Release the fork server and show nothing, because the form's run needs none."""
        with self._lock:
            held, self._server, self._follows = self._server, None, False
            if held is not None:
                held.release()
        self.box.value = ""

    def close(self) -> None:
        """Release the fork server for good."""
        self._closed.set()
        self.rest()

    def _follow(self, server: ForkServer) -> None:
        """Start the fork server, and show its state until it ends or another one is wanted."""
        server.start()
        while server is self._server and not self._closed.is_set():
            state = server.state
            message = self._message(server, state)
            self.box.value = markup.quiet(message) if message else ""
            if state in ("absent", "refused"):
                break
            self._closed.wait(POLL_SECONDS)
        with self._lock:
            if server is not self._server:
                server.release()  # it may have been released before it was held
            else:
                self._follows = False
                again = RETRY_SECONDS if server.state == "refused" else 0.0
                self._again_at = time.monotonic() + again

    def _message(self, server: ForkServer, state: str) -> str:
        if state == "ready":
            queue = self._queue()
            return QUEUE.format(queue=queue) if queue else READY
        messages = {"loading": LOADING, "absent": ""}
        why = f"TensorFlow could not be loaded in advance; Train loads it: {server.why_not}."
        return messages.get(state, why)

    def _failed(self, error: Exception) -> None:
        """Show nothing: Train works without it, and names the problem of the interpreter."""
        self.box.value = ""
        with self._lock:
            self._follows = False
