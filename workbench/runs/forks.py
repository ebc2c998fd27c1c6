"""How a run's tasks begin: forked from a server that has TensorFlow, or cold."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.forking import ColdError, Forked, ForkServer, Order

from .launch import Launch
from .locks import state_dir

BEGUN = "begun"
"""The event that tells how the process of each task was started: `forked`, or `cold: why`."""
COLD = "cold"
FORKED = "forked"
ASKED = "as was asked for"
LOAD_SECONDS = 300.0
"""How long is waited for TensorFlow to load; then all start cold."""


def fork_server(launch: Launch, state: Path | None = None) -> ForkServer:
    """Return the fork server of processes that are launched so."""
    environment = replace(launch, module_dir=None).environment()
    return ForkServer(launch.interpreter, environment, state or state_dir())


@contextlib.contextmanager
def loaded_ahead(interpreter: str) -> Iterator[None]:
    """Have runs of an interpreter forked while the block lasts, where that can be."""
    server = fork_server(Launch(interpreter, Path.cwd(), None))
    try:
        with contextlib.suppress(OSError):  # what cannot be forked starts cold and tells why
            server.start()
        yield
    finally:
        server.release()


class Forks:
    """Begins processes by a fork server where there is one, and says why where there is none."""

    def __init__(self, launch: Launch, state: Path, start: Any = None) -> None:
        """`start` is as in a config: `cold` where nothing is to be forked."""
        self._server = None if start == COLD else fork_server(launch, state)
        self.why_cold = ASKED if start == COLD else ""
        """Why the last process was not forked; empty where it was."""

    def prepare(
        self, wait: Callable[[], None], stopped: Callable[[], bool], *, several: bool
    ) -> None:
        """Have a server load TensorFlow for several processes, and wait for it.

        For one it is waited for only where it loads already: it is there sooner than a cold start.
        `wait` sleeps until it is worth looking again.
        """
        server = self._server
        if server is None or not (several or server.state in ("loading", "ready")):
            return
        try:
            server.start()
        except OSError as error:
            self._give_up(str(error))
            return
        deadline = time.monotonic() + LOAD_SECONDS
        while server.state == "loading" and not stopped():
            if time.monotonic() > deadline:
                self._give_up(f"TensorFlow did not load within {LOAD_SECONDS:g} s")
                return
            wait()
        if server.state == "refused":
            self._give_up(server.why_not)

    def begin(self, order: Order) -> Forked | None:
        """Fork a process; None where that cannot be: see `why_cold`."""
        if self._server is None:
            return None
        try:
            forked = self._server.fork(order)
        except ColdError as error:
            self.why_cold = str(error)
            if isinstance(error.__cause__, TimeoutError):
                self._give_up(str(error))  # the next ones need not wait for it, too
            return None
        self.why_cold = ""
        return forked

    def close(self) -> None:
        """Let the server end where nobody else wants it."""
        if self._server is not None:
            self._server.release()

    def _give_up(self, why: str) -> None:
        """Start all that follow cold."""
        self.close()
        self._server, self.why_cold = None, why
