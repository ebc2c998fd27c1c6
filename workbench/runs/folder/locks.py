"""Locks that end with their holders: which runs are alive, and which run may use a device.

All are locks on files of a local state folder; see `workbench.flock`.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
        raise _state_unwritable(path, error) from error


@dataclass(frozen=True)
class Ticket:
    """A place in the queue for devices, kept from the draw until the run is over.

    Tickets are numbered in the order in which they were drawn. A ticket waits for each living
    ticket that shares a device with it and was drawn earlier or already holds the device. Its turn
    comes when there are no such tickets. The ticket of a dead process never blocks, because its
    lock is free.
    """

    path: Path
    fd: int
    run: str
    devices: tuple[str, ...]

    @classmethod
    def draw(cls, state: Path, run: str, devices: tuple[str, ...], *, start_now: bool) -> Ticket:
        """Take the next number; with `start_now` hold the devices immediately, even if others do.

        Raises:
            RunError: the state folder cannot be written.
        """
        queue = state / "queue"
        with _gate(queue):
            numbers = [int(path.stem) for path in _tickets(queue)]
            path = queue / f"{max(numbers, default=0) + 1:09d}.ticket"
            fd = _open(path)
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            ticket = cls(path, fd, run, devices)
            ticket._write(holding=start_now)
        return ticket

    def ahead(self) -> list[str]:
        """Return the ids of the runs to wait for; if there are none, take the devices."""
        with _gate(self.path.parent):
            runs = []
            for path, other in _living(self.path.parent, but=self.path):
                shared = set(other["devices"]) & set(self.devices)
                if shared and (other["holding"] or path.name < self.path.name):
                    runs.append(str(other["run"]))
            if not runs:
                self._write(holding=True)
        return runs

    def give_back(self) -> None:
        """Leave the queue."""
        self.path.unlink(missing_ok=True)
        os.close(self.fd)

    def _write(self, *, holding: bool) -> None:
        """Write in place and with a constant length, so a full disk cannot cut a ticket short."""
        values = {"run": self.run, "devices": self.devices, "holding": int(holding)}
        try:
            os.pwrite(self.fd, json.dumps(values).encode(), 0)
        except OSError as error:
            self.give_back()
            raise _state_unwritable(self.path, error) from error


def holders(devices: Collection[str]) -> list[str]:
    """Return the ids of the runs that hold one of these devices now, in order of their tickets."""
    queue = state_dir() / "queue"
    if not queue.exists():
        return []
    with _gate(queue):
        return [
            str(ticket["run"])
            for _, ticket in _living(queue)
            if ticket["holding"] and set(ticket["devices"]) & set(devices)
        ]


def _living(queue: Path, but: Path | None = None) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the tickets of living runs in order, behind the gate; remove tickets of dead runs."""
    for path in _tickets(queue):
        if path == but:
            continue
        if flock.held(path):
            yield path, json.loads(path.read_text())
        else:
            path.unlink(missing_ok=True)


def _tickets(queue: Path) -> list[Path]:
    """Return the files of all tickets in order; other files are not tickets."""
    return sorted(path for path in queue.glob("*.ticket") if path.stem.isdecimal())


@contextlib.contextmanager
def _gate(queue: Path) -> Iterator[None]:
    fd = _open(queue / "gate")
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def _open(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _state_unwritable(path, error) from error


def _state_unwritable(path: Path, error: OSError) -> RunError:
    return RunError(
        f"Locks of runs need a local folder to write in; {path}: {error.strerror or error}. "
        "Make room there, or name another local folder in the environment variable WORKBENCH_STATE."
    )
