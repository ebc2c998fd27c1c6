"""The start of a run's tasks: forked from a server that has loaded TensorFlow, or cold."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.forking import ColdError, Forked, ForkServer, Order
from workbench.runs.folder.files import RunError
from workbench.runs.folder.locks import state_dir

from .environment import Launch

BEGUN = "begun"
"""The event that records how each task's process was started: `forked`, or `cold: why`."""
COLD = "cold"
FORKED = "forked"
ASKED = "as requested"
OWN_ENVIRONMENT = "the script sets its environment before it imports TensorFlow"
_IMPORT = re.compile(r"^\s*(?:import|from)\s+tensorflow\b", re.MULTILINE)
_ENVIRONMENT = re.compile(r"\b(?:environ|putenv)\b")
_LEGACY = 'os.environ["TF_USE_LEGACY_KERAS"]'
LOAD_SECONDS = 300.0
"""How long to wait for TensorFlow to load; after that all processes start cold."""


def fork_server(launch: Launch, state: Path | None = None) -> ForkServer:
    """Return the fork server for processes with these launch settings."""
    environment = replace(launch, module_dirs=()).environment()
    here = str(launch.working_dir)
    if paths := environment.get("PYTHONPATH"):
        absolute = (str(launch.working_dir / path) for path in paths.split(os.pathsep))
        environment["PYTHONPATH"] = os.pathsep.join(absolute)
    interpreter = launch.interpreter
    if os.sep in interpreter:
        interpreter = str(Path(here) / interpreter)
    else:
        interpreter = shutil.which(interpreter, path=environment.get("PATH")) or interpreter
    return ForkServer(interpreter, environment, state or state_dir())


def sets_environment(script: str) -> bool:
    """Return whether a script changes its environment before it imports TensorFlow.

    TensorFlow reads the environment at its import. The workbench's own scripts have one such line,
    which chooses Keras. It does not count, because a fork server knows the choice.
    """
    found = _IMPORT.search(script)
    before = script[: found.start()] if found else ""
    lines = (line for line in before.splitlines() if not line.startswith(_LEGACY))
    return any(_ENVIRONMENT.search(line) for line in lines)


@contextlib.contextmanager
def loaded_ahead(
    interpreter: str | None, *, legacy: bool = False, start: Any = None
) -> Iterator[None]:
    """Have processes of an interpreter forked during the block, if possible.

    None means this interpreter; `legacy` is as in `Launch`, `start` as in a config.
    """
    if start == COLD:
        yield
        return
    server: ForkServer | None = None
    try:
        with contextlib.suppress(OSError, RunError):  # without a server, processes start cold
            server = fork_server(
                Launch(interpreter or sys.executable, Path.cwd(), legacy_keras=legacy)
            )
            server.start()
        yield
    finally:
        if server is not None:
            server.release()


class Forks:
    """The starter of processes: by a fork server if there is one, else cold with a reason."""

    def __init__(self, launch: Launch, state: Path, start: Any = None) -> None:
        """Prepare the starts. `start` is as in a config: `cold` forbids forks."""
        self._interpreter = launch.interpreter
        self._server = None if start == COLD else fork_server(launch, state)
        self._why_cold = ASKED if start == COLD else ""
        self._forked: list[Forked] = []

    @property
    def running(self) -> list[Forked]:
        """The forked processes whose end nobody has seen. Those started cold send SIGCHLD."""
        self._forked = [each for each in self._forked if each.returncode is None]
        return self._forked

    @property
    def begun(self) -> str:
        """How the last process was started, if one was: `forked`, or `cold: why`."""
        return f"{COLD}: {self._why_cold}" if self._why_cold else FORKED

    def must_load(self, *, several: bool) -> bool:
        """Return whether `prepare` would wait for TensorFlow to load."""
        state = self._server.state if self._server is not None else "ready"
        return state == "loading" or (several and state == "absent")

    def prepare(
        self, wait: Callable[[], None], stopped: Callable[[], bool], *, several: bool
    ) -> None:
        """Have a server load TensorFlow for several processes, and wait for it.

        For a single process it waits only if the server is loading already: that is faster than a
        cold start. `wait` sleeps until the next check.
        """
        server = self._server
        state = server.state if server is not None else "absent"
        if server is None or not (several or state in ("loading", "ready")):
            return
        if state == "refused":  # a short time ago: do not try again for each run
            self._give_up(server.why_not)
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

    def begin(self, order: Order) -> subprocess.Popen[bytes] | Forked:
        """Start a process that leads its own session and process group; `begun` records how.

        Raises:
            OSError: the interpreter cannot be started, or the script cannot be read.
        """
        return self.fork(order) or subprocess.Popen(
            [self._interpreter, "-u", *order.arguments],
            cwd=order.working_dir,
            env={**order.environment, **{name: str(fd) for name, fd in order.named_fds.items()}},
            stdin=order.streams[0],
            stdout=order.streams[1],
            stderr=order.streams[2],
            pass_fds=order.kept_fds,
            start_new_session=True,
        )

    def fork(self, order: Order) -> Forked | None:
        """Fork a process; return None if that is impossible, and note the reason."""
        if self._server is None:
            return None
        script = next(each for each in reversed(order.arguments) if each.endswith(".py"))
        if sets_environment(Path(script).read_text(encoding="utf-8", errors="replace")):
            self._why_cold = OWN_ENVIRONMENT
            return None
        try:
            forked = self._server.fork(order)
        except ColdError as error:
            self._why_cold = str(error)
            if isinstance(error.__cause__, TimeoutError):
                self._give_up(str(error))  # so the next processes do not wait for it too
            return None
        self._why_cold = ""
        self._forked.append(forked)
        return forked

    def close(self) -> None:
        """Let the server end if no one else needs it."""
        if self._server is not None:
            self._server.release()

    def _give_up(self, why: str) -> None:
        """Start all later processes cold, for this reason."""
        self.close()
        self._server, self._why_cold = None, why
