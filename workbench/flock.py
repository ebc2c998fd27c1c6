"""Locks on files that end with their holders.

A lock belongs to an open file, which child processes can inherit. So the lock is held until the
last of these processes has ended, for any reason. See flock(2).
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

PATIENCE_SECONDS = 0.3
"""How long `take` tries; it must try for a while, because `held` takes the lock for a moment."""


def take(path: Path, patience_seconds: float = PATIENCE_SECONDS) -> int | None:
    """Lock a file and return its descriptor; None if the lock stays taken.

    The file is created if it does not exist.

    Raises:
        OSError: the file cannot be opened.
    """
    deadline = time.monotonic() + patience_seconds
    while True:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            if time.monotonic() > deadline:
                return None
            time.sleep(0.005)
            continue
        if _is_at(fd, path):
            return fd
        os.close(fd)


def held(path: Path) -> bool:
    """Return whether a living process has locked a file.

    Raises:
        OSError: the file exists but cannot be read.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def _is_at(fd: int, path: Path) -> bool:
    """Return whether an open file is still the file at that path."""
    try:
        return os.path.samestat(os.fstat(fd), path.stat())
    except FileNotFoundError:
        return False
