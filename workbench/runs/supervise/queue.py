"""The queue of runs for devices: which run waits, and which run holds a device.

Tickets are locked files of the local state folder: see `workbench.flock`.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shlex
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench import flock
from workbench.runs.folder.locks import state_dir, state_unwritable


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
    run: Path
    """The folder of its run; the queue is that of the machine, for runs of all folders of runs."""
    devices: tuple[str, ...]

    @classmethod
    def draw(cls, state: Path, run: Path, devices: tuple[str, ...], *, start_now: bool) -> Ticket:
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

    def ahead(self) -> list[Path]:
        """Return the folders of the runs to wait for; if there are none, take the devices."""
        with _gate(self.path.parent):
            runs = []
            for path, other in _living(self.path.parent, but=self.path):
                shared = set(other["devices"]) & set(self.devices)
                if shared and (other["holding"] or path.name < self.path.name):
                    runs.append(Path(other["run"]))
            if not runs:
                self._write(holding=True)
        return runs

    def give_back(self) -> None:
        """Leave the queue."""
        self.path.unlink(missing_ok=True)
        os.close(self.fd)

    def _write(self, *, holding: bool) -> None:
        """Write in place and with a constant length, so a full disk cannot cut a ticket short."""
        values = {"run": str(self.run), "devices": self.devices, "holding": int(holding)}
        try:
            os.pwrite(self.fd, json.dumps(values).encode(), 0)
        except OSError as error:
            self.give_back()
            raise state_unwritable(self.path, error) from error


def holders(devices: Collection[str]) -> list[Path]:
    """Return the folders of the runs that hold one of these devices now, in order of tickets."""
    return [Path(ticket["run"]) for ticket in _sharing(devices) if ticket["holding"]]


def in_line(devices: Collection[str]) -> list[Path]:
    """Return the folders of the runs for which a new run on these devices would wait."""
    return [Path(ticket["run"]) for ticket in _sharing(devices)]


def named(runs: Iterable[Path], root: Path) -> str:
    """Return runs in words: their ids; outside of the folder of runs `root` also their place."""
    return ", ".join(
        run.name
        if is_in(run, root)
        else f"{run.name} of another folder (see: workbench runs show {shlex.quote(str(run))})"
        for run in runs
    )


def is_in(run: Path, root: Path) -> bool:
    """Return whether a run's folder is in this folder of runs."""
    return run.parent.resolve() == root.resolve()


def _sharing(devices: Collection[str]) -> list[dict[str, Any]]:
    """Return the tickets of the living runs with one of these devices, in order."""
    queue = state_dir() / "queue"
    if not queue.exists():
        return []
    with _gate(queue):
        return [ticket for _, ticket in _living(queue) if set(ticket["devices"]) & set(devices)]


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
        raise state_unwritable(path, error) from error
