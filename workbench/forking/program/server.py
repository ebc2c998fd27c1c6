"""A process that has imported what takes long and forks itself for each order.

Who orders connects to FOLDER/NAME.socket, and over the connection go, in this order:

- the order, a line of JSON (see `worker.Order`);
- back, from the process that was forked for it: `{"pid": N}`;
- a byte with the descriptors of stdin, stdout, stderr and what else is to be held. After it that
  process runs what was ordered; where the connection ends instead, so does the process;
- back, from its keeper, once it has ended: `{"status": N}`, below zero by a signal.

The keeper is its parent, forked from the server too, so that the status is known and its number is
not given away although the server may be gone. `{"refused": "why"}` stands for all of it.
"""

import contextlib
import ctypes
import fcntl
import gc
import importlib
import importlib.util
import json
import os
import select
import signal
import socket
import struct
import time
from pathlib import Path
from typing import NoReturn

from . import gpus, proofs
from .worker import Order, show_as

LOOK_SECONDS = 1.0
IDLE_SECONDS = 600.0
LEAST_MEMORY_BYTES = 2**30
SHORT = "the machine has less than 1 GiB of memory left"
MOST_LETTERS = 300
"""Of an error that is told."""
MEMORY = Path("/proc/meminfo")
PR_SET_PDEATHSIG = 1
KEEPER = "workbench: keeps a forked process"


class Server:
    """It ends once nobody holds it or forked for long, memory is short, or packages changed.

    Whoever uses it shares a lock on FOLDER/NAME.users, and writes its time to say so again; the
    server holds the lock that it was given.
    """

    def __init__(self, folder: Path, name: str, lock_fd: int) -> None:
        self.lock_fd = lock_fd
        self.users_fd = os.open(folder / f"{name}.users", os.O_RDWR | os.O_CREAT, 0o600)
        self.why, self.socket = folder / f"{name}.why", folder / f"{name}.socket"
        self.listener = socket.socket(socket.AF_UNIX)
        self.children = set[int]()
        self.stale = False

    def serve(self, modules: list[str]) -> Order | None:
        """Import, wait for orders and fork; returns an order in the process that is to obey it."""
        if reason := self._prepare(modules):
            self._refuse(reason)
        self._listen()
        while not self._is_over():
            if select.select([self.listener], [], [], LOOK_SECONDS)[0]:
                connection = self.listener.accept()[0]
                os.utime(self.users_fd)
                if order := self._answer(connection):
                    return order
        with contextlib.suppress(FileNotFoundError):
            self.socket.unlink()
        if memory_is_short():
            self._refuse(SHORT)
        os._exit(0)  # at once: whoever wants another one waits for its locks

    def _refuse(self, why: str) -> NoReturn:
        """Write in a line why nothing is forked, and end."""
        lines = [line.strip() for line in why.splitlines() if line.strip()]
        self.why.write_text(lines[-1][:MOST_LETTERS])
        os._exit(0)

    def _prepare(self, modules: list[str]) -> str:
        """Import and settle; return why nothing is to be forked from it."""
        if memory_is_short():
            return SHORT
        if importlib.util.find_spec("libtpu") is not None:
            return "its TensorFlow is one for TPUs, and takes the TPU when it is imported"
        try:
            self.folders = proofs.Stamps(proofs.package_folders())
            for module in modules:
                importlib.import_module(module)
            self.files = proofs.Stamps(proofs.files_of(modules))
            return proofs.why_not(settle()) or gpus.why_not(self.why.parent, self.lock_fd)
        except (Exception, SystemExit) as error:
            return f"{type(error).__name__}: {error}"

    def _listen(self) -> None:
        """Show the socket once it can be connected to, to its owner only."""
        hidden = self.socket.with_suffix(".new")
        for path in (self.socket, hidden):
            with contextlib.suppress(FileNotFoundError):
                path.unlink()
        folder = os.open(self.socket.parent, os.O_RDONLY)
        before = os.umask(0o177)
        try:  # a path by /proc is short: an address of a socket has 107 bytes at most
            self.listener.bind(f"/proc/self/fd/{folder}/{hidden.name}")
        finally:
            os.umask(before)
            os.close(folder)
        self.listener.listen(64)
        hidden.rename(self.socket)
        self.inode = self.socket.stat().st_ino

    def _is_over(self) -> bool:
        """Whether nobody can want it any more, or it had better go."""
        while self.children and (ended := os.waitpid(-1, os.WNOHANG)[0]):
            self.children.discard(ended)
            os.utime(self.users_fd)
        wanted_at = os.fstat(self.users_fd).st_mtime  # see ForkServer.keep
        idle = not self.children and time.time() - wanted_at > IDLE_SECONDS
        unwanted = self.stale or not self._is_used() or self._is_hidden()
        return idle or unwanted or memory_is_short()

    def _is_used(self) -> bool:
        try:
            fcntl.flock(self.users_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False

    def _is_hidden(self) -> bool:
        """Whether nobody finds its socket any more."""
        try:
            return self.socket.stat().st_ino != self.inode
        except OSError:
            return True

    def _answer(self, connection: socket.socket) -> Order | None:
        """Fork a keeper that forks what obeys; return the order in that."""
        with connection:
            if peer_of(connection) != os.geteuid():
                return None
            if changed := self.files.changed() or self.folders.changed():
                tell(connection, refused=f"{changed} changed since it was imported")
                self.stale = True
                return None
            try:
                keeper = os.fork()
            except OSError as error:
                tell(connection, refused=f"no process can be forked: {error.strerror}")
                return None
            if keeper:
                self.children.add(keeper)
                return None
            os.setpgid(0, 0)
            self.listener.close()
            os.close(self.lock_fd)
            os.close(self.users_fd)
            return keep(connection)


def keep(connection: socket.socket) -> Order | None:
    """Be the keeper of a process that is forked for an order; return the order in that process."""
    keeper = os.getpid()
    show_as([KEEPER])
    try:
        order = Order.receive(connection)
        worker = os.fork() if order else 0
    except (OSError, TypeError, ValueError) as error:
        tell(connection, refused=str(error))
        os._exit(1)
    if order is None:
        os._exit(0)
    if not worker:
        return order if begin(order, connection, keeper) else os._exit(0)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # they are for what it keeps, which ends it
    if ended := os.waitid(os.P_PID, worker, os.WEXITED | os.WNOWAIT):
        sign = 1 if ended.si_code == os.CLD_EXITED else -1
        tell(connection, status=sign * ended.si_status)
    with contextlib.suppress(OSError):  # until whoever asked has heard, its number stays its own
        while connection.recv(64):
            pass
    os._exit(0)


def begin(order: Order, connection: socket.socket, keeper: int) -> bool:
    """Say that this process has come alive; return whether it is to go on."""
    # Without its keeper nobody could tell how it ended.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != keeper:
        return False
    os.setsid()
    tell(connection, pid=os.getpid())
    return order.take_descriptors(connection)


def settle() -> list[str]:
    """Become a process that shares as much as it can with those that are forked from it.

    It goes on as a child, and returns the threads that the import had left its parent: before any
    fork OpenBLAS ends its helpers, which it starts anew where they are needed.
    """
    gc.collect()
    gc.freeze()
    ctypes.CDLL(None).fflush(None)  # what C code has not written yet would be written by each
    told, tells = os.pipe()
    if os.fork():
        os.write(tells, json.dumps(proofs.other_threads()).encode())
        os._exit(0)
    os.close(tells)
    with os.fdopen(told, "rb") as names:
        threads: list[str] = json.load(names)
    return threads


def tell(connection: socket.socket, **values: object) -> None:
    """Send a line of JSON to whoever still listens."""
    with contextlib.suppress(OSError):
        connection.sendall(json.dumps(values).encode() + b"\n")


def peer_of(connection: socket.socket) -> int:
    """Return the user at the other end."""
    told = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", told)[1])


def memory_is_short() -> bool:
    """Return whether the machine has little memory left, where it tells."""
    try:
        fields = dict(line.split(":", 1) for line in MEMORY.read_text().splitlines())
        return int(fields["MemAvailable"].split()[0]) * 1024 < LEAST_MEMORY_BYTES
    except (OSError, KeyError, ValueError):
        return False
