"""Watched processes of one program: their answers, their memory, and how they end."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from workbench.runs.folder.files import StoppedError
from workbench.runs.processes.environment import Launch
from workbench.runs.programs.child import Child, Work, children, to_blame
from workbench.runs.programs.run import failed_error, not_started
from workbench.runs.supervise.diagnosis import OUT_OF_MEMORY

POLL_SECONDS = 0.02
"""Short, because memory can run out within a moment."""
MIB = 2**20
End = Literal["done", "memory", "budget", "stopped"]
_MEMORY = re.compile(  # a thread's stack is memory too
    rf"{OUT_OF_MEMORY}|pthread_create\(\) failed|can't start new thread"
)
_OTHER_RESOURCES = re.compile(r"No space left on device|Disk quota exceeded|Too many open files")
_BROKEN = re.compile(
    r"Check failed|corrupt|double free|invalid pointer|Assertion|Fatal Python error"
)


@dataclass(frozen=True)
class Ending:
    """How a program's processes ended; `memory` has a reason."""

    end: End
    reason: str = ""


def run_watched(
    launch: Launch,
    program: Sequence[str],
    tasks: Sequence[str],
    folder: Path,
    on_answers: Callable[[list[dict[str, Any]]], None],
    give_up: Callable[[], End | None],
    limit_bytes: int | None = None,
    start: str = "auto",
) -> Ending:
    """Run a program in a process for each task until all have ended.

    Args:
        launch: interpreter, working folder and environment.
        program: the arguments of the interpreter, for a program that answers in lines of JSON.
        tasks: each task, such as `worker-0`, is one process.
        folder: where their logs and their temporary files are written.
        on_answers: called with the lines of JSON of all tasks, one line from each task.
        give_up: asked many times a second; if it returns an end, the processes are ended. It is
            asked before any failure is checked, because a program that has given all its answers
            may end in any way.
        limit_bytes: the most memory of a process; a process that holds more is ended. If the
            system does not report memory (/proc), no process is ended.
        start: as in a config: `cold` if nothing must be forked.

    Raises:
        RunError: a process cannot be started, or failed for another reason than memory.
    """
    # An ended process has no time to remove its files; they are removed with the folder.
    work = Work(launch, program, {"TMPDIR": str(folder.absolute())}, start=start)
    given_up: list[End] = []

    def stopped() -> bool:
        given_up.extend(filter(None, [give_up()]))
        return bool(given_up)

    try:
        with children(work, tasks, folder, stopped) as started:
            return _watch(started, launch.interpreter, on_answers, give_up, limit_bytes)
    except StoppedError:
        return Ending(given_up[0])
    except OSError as error:
        raise not_started(error, launch.interpreter) from error


def _watch(
    started: Sequence[Child],
    interpreter: str,
    on_answers: Callable[[list[dict[str, Any]]], None],
    give_up: Callable[[], End | None],
    limit_bytes: int | None,
) -> Ending:
    while True:
        statuses = [child.poll() for child in started]
        while all(child.answers for child in started):
            on_answers([child.answers.pop(0) for child in started])
        if end := give_up():
            return Ending(end)
        if any(statuses):
            return _why_failed(started, interpreter)
        if None not in statuses:
            return Ending("done")
        running = [child for child, status in zip(started, statuses, strict=True) if status is None]
        for child in running:
            if limit_bytes is not None and (held := child.most_bytes) > limit_bytes:
                most = (
                    f"it used {held // MIB:,} MiB, more than the {limit_bytes // MIB:,} MiB allowed"
                )
                return Ending("memory", most)
        time.sleep(POLL_SECONDS)


def _why_failed(started: Sequence[Child], interpreter: str) -> Ending:
    """Return that memory was short in one of them, or raise the error for another reason."""
    blamed = to_blame(started)
    for child in started:
        if status := child.poll():
            cause = child.explained(interpreter)["cause"].removesuffix(f" (exit status {status})")
            if (reason := lack_of_memory(status, cause, child.log)) is not None:
                return Ending("memory", reason)
    raise failed_error(blamed, "The trial failed", interpreter)


def lack_of_memory(exit_status: int, cause: str, log: str) -> str | None:
    """Return in words how a process ended for lack of memory; None if it ended otherwise.

    Args:
        exit_status: as in `subprocess`: below 0 for a signal.
        cause: the line of the log that names the error, as `runs.supervise.diagnosis.explain` finds
            it.
        log: the end of the process's log.
    """
    if exit_status == -signal.SIGKILL:
        return "the system killed it (SIGKILL), as it does when memory is short"
    if exit_status == -signal.SIGABRT:
        if _MEMORY.search(log) or not _BROKEN.search(log):
            return "it aborted (SIGABRT), as it does when std::bad_alloc is not caught"
        return None
    if exit_status > 0 and _MEMORY.search(cause) and not _OTHER_RESOURCES.search(cause):
        return cause
    return None
