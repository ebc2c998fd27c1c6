"""The locks of runs: a lock ends with its holder, so a run is alive while its lock is held.

Locks are files of a local state folder: see `workbench.flock`.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from workbench import flock

from .files import RunError, full_path


def state_dir() -> Path:
    """Return the local state folder: `$WORKBENCH_STATE`, else `$XDG_STATE_HOME/workbench`.

    If neither variable is set, the folder is `~/.local/state/workbench`.
    """
    if given := os.environ.get("WORKBENCH_STATE"):
        return full_path(given)
    return full_path(os.environ.get("XDG_STATE_HOME") or "~/.local/state") / "workbench"


def lock_path(state: Path, run_dir: Path) -> Path:
    """Return the lock file of a run, named after the run's real path, so links share one lock."""
    name = hashlib.sha256(os.fsencode(run_dir.resolve())).hexdigest()
    return state / "locks" / f"{name}.lock"


def take(path: Path, patience_seconds: float = flock.PATIENCE_SECONDS) -> int | None:
    """Lock a file for this process and its children; return its descriptor, None if it is held.

    Raises:
        RunError: the state folder cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return flock.take(path, patience_seconds)
    except OSError as error:
        raise state_unwritable(path, error) from error


def state_unwritable(path: Path, error: OSError) -> RunError:
    """Return the error to raise if the state folder cannot be written."""
    return RunError(
        f"Locks of runs cannot be written to {path}: {error.strerror or error}. "
        "Make room there, or name another local folder in the environment variable WORKBENCH_STATE."
    )
