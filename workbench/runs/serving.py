"""A program of the engine that answers again and again, in a process for each task of a run."""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import wait
from pathlib import Path
from typing import IO, Any

from .directory import RunError, read_json
from .failure import cannot_start, explain
from .launch import Launch
from .programs import POLL_SECONDS, program, start_program, stopped_error
from .tasks import ONE_TASK, environments

LONGEST_LOG = 2000


class Served:
    """The processes of such a program: one question at a time, an answer of each."""

    def __init__(
        self,
        name: str,
        interpreter: str,
        children: list[subprocess.Popen[str]],
        log: IO[str],
        stopped: Callable[[], bool],
    ) -> None:
        self._name, self._interpreter, self._stopped = name, interpreter, stopped
        self._children, self._log = children, log

    def first(self) -> list[dict[str, Any]]:
        """Return what each says when it is ready."""
        return [self._answer(child) for child in self._children]

    def ask(self) -> list[dict[str, Any]]:
        """Ask all at once, and return the answer of each.

        Raises:
            RunError: one has ended.
            StoppedError: it was stopped.
        """
        for child in self._children:
            with contextlib.suppress(BrokenPipeError):  # it has ended: told below
                print("again", file=child.stdin, flush=True)
        return [self._answer(child) for child in self._children]

    def _answer(self, child: subprocess.Popen[str]) -> dict[str, Any]:
        assert child.stdout is not None
        # Whoever is asked answers with one line, so that none waits in the buffer.
        while not wait([child.stdout.fileno()], POLL_SECONDS):
            if self._stopped():
                raise stopped_error(self._name)
        if line := child.stdout.readline():
            values: dict[str, Any] = json.loads(line)
            return values
        self._log.seek(0)
        errors = self._log.read()
        reason = explain(child.wait(), [], errors, self._interpreter)
        raise RunError(
            f"{self._name} answers until it is ended; it failed: {reason['cause']} "
            f"{reason['fix']}\n{errors[-LONGEST_LOG:]}"
        )


@contextlib.contextmanager
def serving(
    run_dir: Path,
    name: str,
    *arguments: str,
    tasks: Sequence[str] = ONE_TASK,
    stopped: Callable[[], bool] = lambda: False,
) -> Iterator[Served]:
    """Start the program NAME with RUN_DIR ARGUMENTS for each task; end all when the block is left.

    Once `stopped` says so no answer is waited for.

    Raises:
        RunError: the interpreter cannot be started, or there is no free port.
    """
    launch = Launch.of(run_dir, read_json(run_dir / "run.json"), read_json(run_dir / "plan.json"))
    command = [launch.interpreter, *program(name, str(run_dir.absolute()), *arguments)]
    children: list[subprocess.Popen[str]] = []
    with contextlib.ExitStack() as ports, tempfile.TemporaryFile("w+", errors="replace") as log:
        try:
            for variables in environments(tasks, ports).values():
                pipe = subprocess.PIPE
                children.append(start_program(launch, command, variables, stdin=pipe, stderr=log))
            yield Served(name, launch.interpreter, children, log, stopped)
        except OSError as error:
            raise RunError(" ".join(cannot_start(error, launch.interpreter).values())) from error
        finally:
            for child in children:
                child.kill()
            for child in children:
                child.communicate()
