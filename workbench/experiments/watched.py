"""Processes of one program under watch: what they tell, the memory they hold, how they end."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from workbench.runs import RunError
from workbench.runs.failure import cannot_start, explain, follows_another, log_tail
from workbench.runs.launch import Launch
from workbench.runs.tasks import NoAddressError, environments

from .endings import want_of_memory

POLL_SECONDS = 0.02
OTHERS_SECONDS = 2.0
"""How long the others may take to end after the first: one of them may know the cause."""
LOG_LINES = 200
MIB = 2**20

End = Literal["done", "memory", "budget", "stopped"]


@dataclass(frozen=True)
class Ending:
    """How a program's processes ended: `memory` with the reason."""

    end: End
    reason: str = ""


def run_watched(
    launch: Launch,
    program: Sequence[str],
    tasks: Sequence[str],
    folder: Path,
    heard: Callable[[list[dict[str, Any]]], None],
    give_up: Callable[[], End | None],
    limit_bytes: int | None = None,
) -> Ending:
    """Run a program in a process for each task until all have ended.

    Args:
        launch: interpreter, working folder and environment.
        program: what the interpreter is given: one that prints lines of JSON and ends with its
            input.
        tasks: a process each, such as `worker-0`.
        folder: where their logs and their temporary files are written.
        heard: called with the lines of JSON that all tasks have told, one of each.
        give_up: asked many times a second; what it returns ends the processes. It is asked before
            any failure is looked at: what has told all that is wanted may end as it likes.
        limit_bytes: the most memory of a process; one that holds more is ended. Where the system
            does not tell of memory (/proc), nobody is.

    Raises:
        RunError: a process cannot be started, or failed for another reason than memory.
    """
    command = [launch.interpreter, *program]
    children: list[_Child] = []
    ports = contextlib.ExitStack()
    try:
        for task, variables in environments(tasks, ports).items():
            children.append(_Child(launch, command, variables, folder / f"{task}.log"))
        return _watch(children, launch, heard, give_up, limit_bytes)
    except (NoAddressError, OSError) as error:
        raise RunError(" ".join(cannot_start(error, launch.interpreter).values())) from error
    finally:
        for child in children:
            child.end()
        ports.close()


def _watch(
    children: Sequence[_Child],
    launch: Launch,
    heard: Callable[[list[dict[str, Any]]], None],
    give_up: Callable[[], End | None],
    limit_bytes: int | None,
) -> Ending:
    while True:
        running = [child for child in children if child.poll() is None]
        while all(child.told for child in children):
            heard([child.told.pop(0) for child in children])
        if end := give_up():
            return Ending(end)
        if any(child.poll() for child in children):
            return _why_failed(children, launch)
        if not running:
            return Ending("done")
        for child in running:
            if limit_bytes is not None and (held := child.most_bytes()) > limit_bytes:
                most = f"it held {held // MIB:,} MiB, over the {limit_bytes // MIB:,} MiB allowed"
                return Ending("memory", most)
        time.sleep(POLL_SECONDS)


def _why_failed(children: Sequence[_Child], launch: Launch) -> Ending:
    """Return that memory was short in one of them, or raise what else was the matter."""
    deadline = time.monotonic() + OTHERS_SECONDS
    while time.monotonic() < deadline and any(child.poll() is None for child in children):
        time.sleep(POLL_SECONDS)
    failed = [child for child in children if child.poll()]
    reasons = [child.why_failed(launch.interpreter) for child in failed]
    for why in reasons:
        if isinstance(why, Ending):
            return why
    own = [why for child, why in zip(failed, reasons, strict=True) if not child.follows_another]
    why = (own or reasons)[0]
    assert isinstance(why, RunError)
    raise why


class _Child:
    """One process: its lines of JSON as they come, its log in a file."""

    def __init__(
        self, launch: Launch, command: Sequence[str], variables: Mapping[str, str], log: Path
    ) -> None:
        self._log, self._rest, self.told = log, b"", list[dict[str, Any]]()
        with log.open("wb") as errors:
            self._process = subprocess.Popen(
                command,
                cwd=launch.working_dir,
                # No module of the engine, beside which a program lies, hides one of the user's.
                # What one that is ended has no time to remove goes with the folder.
                env={
                    **launch.environment(),
                    **variables,
                    "PYTHONSAFEPATH": "1",
                    "TMPDIR": str(log.parent.absolute()),
                },
                stdin=subprocess.PIPE,  # held open: its end tells them that nobody watches
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,  # a Ctrl-C of the terminal is for who watches
            )
        assert self._process.stdout is not None
        self._output = self._process.stdout.fileno()
        os.set_blocking(self._output, False)

    def poll(self) -> int | None:
        """Take in what was told; return the exit status once all of it is."""
        status = self._process.poll()
        with contextlib.suppress(BlockingIOError):
            while block := os.read(self._output, 65536):
                self._rest += block
        *lines, self._rest = self._rest.split(b"\n")
        self.told += [json.loads(line) for line in lines if line.startswith(b"{")]
        return status

    def most_bytes(self) -> int:
        """Return the most memory it held so far; 0 where the system does not tell.

        Not the `ru_maxrss` of an ended child, which begins with what its parent held.
        """
        with contextlib.suppress(OSError, ValueError):
            status = Path(f"/proc/{self._process.pid}/status").read_text()
            found = status.partition("VmHWM:")[2].split()
            return int(found[0]) * 1024 if found else 0
        return 0

    def why_failed(self, interpreter: str) -> Ending | RunError:
        """Return how it failed."""
        status, log = self._process.returncode, log_tail(self._log, LOG_LINES)
        told = explain(status, [], log, interpreter)
        cause = told["cause"].removesuffix(f" (exit status {status})")
        if (reason := want_of_memory(status, cause, log)) is not None:
            return Ending("memory", reason)
        return RunError(
            f"A trial trains some steps and tells of them; it failed: {told['cause']} "
            f"{told['fix']}\n{log[-2000:]}"
        )

    @property
    def follows_another(self) -> bool:
        """Whether it says that it ended because another process did."""
        return follows_another(log_tail(self._log, LOG_LINES))

    def end(self) -> None:
        """End it with all that it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
