"""The process of a comparison's queue: its lock, its files, and its start."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from workbench.runs import RunError
from workbench.runs.folder import locks
from workbench.runs.folder.files import unwritable
from workbench.runs.folder.logs import log_tail
from workbench.runs.processes.environment import PACKAGE_ROOT

DEVICES, EVENTS, LOG, STOP = "devices.json", "queue.jsonl", "queue.log", "stop"


def lock_of(folder: Path) -> Path:
    """Return the lock that a comparison's queue holds while it lives."""
    return locks.lock_path(locks.state_dir(), folder)


def spawn(folder: Path) -> None:
    """Start the queue, which inherits the lock.

    Raises:
        RunError: it is alive, or cannot be started.
    """
    lock = locks.take(lock_of(folder))
    if lock is None:
        raise RunError(
            f"The comparison {folder.name} is still running. Stop it first, or let it finish."
        )
    command = [
        sys.executable,
        "-m",
        "workbench.experiments.queueing.queue",
        str(folder),
        str(Path.cwd()),
    ]
    try:
        (folder / STOP).unlink(missing_ok=True)
        with (folder / LOG).open("ab") as log:
            launcher = subprocess.Popen(
                command,
                cwd=PACKAGE_ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(lock,),
                start_new_session=True,
            )
    except OSError as error:
        raise unwritable(folder, error) from error
    finally:
        os.close(lock)
    if launcher.wait():
        raise RunError(
            f"The queue of the comparison did not start: {sys.executable} ended with exit status "
            f"{launcher.returncode}. Its log ends with: {log_tail(folder / LOG, 5)}. Check that it "
            "can import workbench, then resume the comparison."
        )
