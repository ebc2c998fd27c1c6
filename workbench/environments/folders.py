"""The folder of environments, and the lock for making an environment there."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from workbench.environments.errors import MakingError
from workbench.environments.progress import ProgressReport

GIB = 2**30
OTHER_PLACE = "set the environment variable WORKBENCH_ENVIRONMENTS to another folder"
_PATIENCE_SECONDS = 0.2


def environments_dir() -> Path:
    """Return the folder of environments.

    It is `$WORKBENCH_ENVIRONMENTS`, or a folder in the user's cache folder.

    Raises:
        MakingError: the path begins with ~ and that home folder does not exist.
    """
    given = os.environ.get("WORKBENCH_ENVIRONMENTS")
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    folder = given or f"{cache}/tf-distribute-workbench/environments"
    try:
        return Path(folder).expanduser().absolute()
    except RuntimeError as error:
        rule = "Environments need a user with a home folder"
        fix = "Set WORKBENCH_ENVIRONMENTS to a full path, or set HOME."
        raise MakingError(rule, folder, fix) from error


@contextlib.contextmanager
def locked(folder: Path, report: ProgressReport) -> Iterator[int]:
    """Wait for the lock of an environment and hold it; children may inherit its descriptor.

    Raises:
        MakingError: the folder of environments cannot be written.
        CancelledError: the caller cancelled during the wait.
    """
    path = folder.with_name(f".{folder.name}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise unwritable(folder.parent, error) from error
    try:
        while not _taken(fd):
            report.tick("Waiting for another process that is making this environment.")
            time.sleep(_PATIENCE_SECONDS)
        yield fd
    finally:
        os.close(fd)


def check_space(root: Path, needed_bytes: int) -> None:
    """Check that there is enough free disk space.

    Raises:
        MakingError: there is too little space.
    """
    free_bytes = shutil.disk_usage(root).free
    if free_bytes < needed_bytes:
        raise MakingError(
            f"This environment needs {needed_bytes / GIB:,.1f} GiB of free disk space",
            f"{free_bytes / GIB:,.1f} GiB free in {root}",
            f"Make room there, or {OTHER_PLACE}.",
        )


@contextlib.contextmanager
def making(folder: Path) -> Iterator[Path]:
    """Make a temporary work folder next to the future environment, and remove it at the end.

    First remove the work folders that killed processes left. Call this while holding the lock.

    Raises:
        MakingError: the folder of environments cannot be written.
    """
    prefix = f".making-{folder.name}-"
    for left in folder.parent.glob(f"{prefix}*"):
        shutil.rmtree(left, ignore_errors=True)
    try:
        work = Path(tempfile.mkdtemp(prefix=prefix, dir=folder.parent))
    except OSError as error:
        raise unwritable(folder.parent, error) from error
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def settle(made: Path, folder: Path, aside: Path) -> None:
    """Give a finished environment its name; move an older one with that name to `aside`."""
    if folder.exists():
        folder.rename(aside)
    made.rename(folder)


def unwritable(root: Path, error: OSError) -> MakingError:
    """Return the error for a folder that cannot be written."""
    return MakingError(
        "Environments need a folder that can be written",
        f"{root} ({error.strerror or error})",
        f"Give yourself write permission there, or {OTHER_PLACE}.",
    )


def _taken(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
