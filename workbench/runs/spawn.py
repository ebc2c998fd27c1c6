"""Start of a run's supervisor as a detached process, which is not a child of the caller."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.runs.folder.files import KILL, RunError, unwritable
from workbench.runs.folder.logs import log_tail
from workbench.runs.folder.state import alive_error, status, take_lock
from workbench.runs.folder.trust import trust
from workbench.runs.processes.environment import PACKAGE_ROOT, SUPERVISOR_LOG

if TYPE_CHECKING:
    from workbench.runs.processes.bounds import Bounds

HANDSHAKE_SECONDS = 30.0
PATIENCE_SECONDS = 5.0
"""A supervisor that has just written its final state still holds the lock for a moment."""


def take(run_dir: Path, action: str) -> int:
    """Lock a run that no supervisor holds.

    `action` is the word for the error message, such as "started" in "can be started".

    Raises:
        RunError: the run is alive.
    """
    lock = take_lock(run_dir)
    if lock is None and status(run_dir) in ("finished", "stopped", "failed"):
        lock = take_lock(run_dir, patience_seconds=PATIENCE_SECONDS)
    if lock is None:
        raise alive_error(run_dir, action)
    return lock


def spawn(run_dir: Path, lock: int, bounds: Bounds) -> None:
    """Start a supervisor that inherits the lock, and wait until it has written its first event.

    Raises:
        RunError: the supervisor cannot be started, or does not answer in time.
    """
    trust(run_dir)
    log = run_dir / SUPERVISOR_LOG
    ready, answer = os.pipe()
    arguments = [str(run_dir.absolute())]
    for name, seconds in dataclasses.asdict(bounds).items():
        arguments += [f"--{name.replace('_', '-')}", str(seconds)]
    try:
        for asked in ("stop", KILL):
            (run_dir / asked).unlink(missing_ok=True)
        launcher = _launch(arguments, lock, answer, log)
    except OSError as error:
        os.close(ready)
        raise unwritable(run_dir, error) from error
    finally:
        os.close(answer)
    with os.fdopen(ready, "rb") as pipe:
        answered = select.select([pipe], [], [], HANDSHAKE_SECONDS)[0]
        reply = pipe.read() if answered else b""
    if not answered:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(launcher.pid, signal.SIGKILL)
    launcher.wait()
    if refusal := _refusal(reply, log, waited=not answered):
        raise RunError(refusal)


def _launch(arguments: list[str], lock: int, answer: int, log: Path) -> subprocess.Popen[bytes]:
    """Start the launcher: a process that forks the supervisor and exits."""
    command = [sys.executable, "-m", "workbench.runs.supervise", *arguments]
    with log.open("ab") as output:
        return subprocess.Popen(
            [*command, "--detach", "--lock-fd", str(lock), "--ready-fd", str(answer)],
            cwd=PACKAGE_ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            pass_fds=(lock, answer),
        )


def _refusal(reply: bytes, log: Path, *, waited: bool) -> str:
    if reply:
        return str(json.loads(reply)["error"])
    silent = f"did not answer within {HANDSHAKE_SECONDS:g} s"
    what = silent if waited else "ended without an answer"
    return (
        f"The run did not start: its supervisor {what}. Its log ends with: "
        f"{log_tail(log, 5) or '(nothing)'}. Check that {sys.executable} can import workbench, "
        "then start again."
    )
