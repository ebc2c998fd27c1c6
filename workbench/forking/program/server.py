"""A process that has imported the slow modules and forks itself for each order.

The client connects to FOLDER/NAME.socket. These messages go over the connection, in this order:

- the order, a line of JSON (see `worker.Order`);
- back, from the process that was forked for the order: `{"pid": N}`;
- a byte with the descriptors of stdin, stdout, stderr and others to hold. After it, the process
  runs the order. If the connection ends instead, the process ends too;
- back, from the keeper of the process, once the process has ended: `{"status": N}`, negative after
  a signal.

The keeper is the parent of the process, and is forked from the server too. So the status is known,
and the process number is not used again, even if the server has ended. A refused order gets the
answer `{"refused": "why"}` instead.
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

POLL_SECONDS = 1.0
IDLE_SECONDS = 600.0
LEAST_MEMORY_BYTES = 2**30
SHORT = "the machine has less than 1 GiB of memory left"
MOST_LETTERS = 300
"""The most letters of an error that are reported."""
MEMORY = Path("/proc/meminfo")
PR_SET_PDEATHSIG = 1
KEEPER = "workbench: keeps a forked process"


class Server:
    """The server. It ends if nobody holds it, it idles, memory is short, or packages changed.

    Each user process shares a lock on FOLDER/NAME.users, and updates the file's time to show that
    it still wants the server. The server itself holds the lock that it was given.
    """

    def __init__(self, folder: Path, name: str, lock_fd: int) -> None:
        self.lock_fd = lock_fd
        self.users_fd = os.open(folder / f"{name}.users", os.O_RDWR | os.O_CREAT, 0o600)
        self.why, self.socket = folder / f"{name}.why", folder / f"{name}.socket"
        self.listener = socket.socket(socket.AF_UNIX)
        self.children = set[int]()
        self.stale = False

    def serve(self, modules: list[str]) -> Order | None:
        """Import, wait for orders and fork; return an order in the process that must obey it."""
        if reason := self._prepare(modules):
            self._refuse(reason)
        self._listen()
        while not self._is_over():
            if select.select([self.listener], [], [], POLL_SECONDS)[0]:
                connection = self.listener.accept()[0]
                os.utime(self.users_fd)
                if order := self._answer(connection):
                    return order
        with contextlib.suppress(FileNotFoundError):
            self.socket.unlink()
        if memory_is_short():
            self._refuse(SHORT)
        os._exit(0)  # immediately: the starter of another one waits for its locks

    def _refuse(self, why: str) -> NoReturn:
        """Write the reason why nothing is forked in one line, and end."""
        lines = [line.strip() for line in why.splitlines() if line.strip()]
        self.why.write_text(lines[-1][:MOST_LETTERS])
        os._exit(0)

    def _prepare(self, modules: list[str]) -> str:
        """Import and settle; return the reason why nothing may be forked from this process."""
        if memory_is_short():
            return SHORT
        if importlib.util.find_spec("libtpu") is not None:
            return "its TensorFlow is built for TPUs and takes the TPU when it is imported"
        try:
            self.folders = proofs.Stamps(proofs.package_folders())
            for module in modules:
                importlib.import_module(module)
            self.files = proofs.Stamps(proofs.files_of(modules))
            return proofs.why_not(settle()) or gpus.why_not(self.why.parent, self.lock_fd)
        except (Exception, SystemExit) as error:
            return f"{type(error).__name__}: {error}"

    def _listen(self) -> None:
        """Make the socket visible once it accepts connections, to its owner only."""
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
        """Return whether the server must end: it idles, nobody wants it, or memory is short."""
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
        """Return whether its socket can no longer be found."""
        try:
            return self.socket.stat().st_ino != self.inode
        except OSError:
            return True

    def _answer(self, connection: socket.socket) -> Order | None:
        """Fork a keeper, which forks a process for the order; return the order in that process."""
        with connection:
            if peer_of(connection) != os.geteuid():
                return None
            if changed := self.files.changed() or self.folders.changed():
                send(connection, refused=f"{changed} changed since it was imported")
                self.stale = True
                return None
            try:
                keeper = os.fork()
            except OSError as error:
                send(connection, refused=f"no process can be forked: {error.strerror}")
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
    """Keep a process that is forked for an order; return the order in that process."""
    keeper = os.getpid()
    show_as([KEEPER])
    try:
        order = Order.receive(connection)
        worker = os.fork() if order else 0
    except (OSError, TypeError, ValueError) as error:
        send(connection, refused=str(error))
        os._exit(1)
    if order is None:
        os._exit(0)
    if not worker:
        return order if begin(order, connection, keeper) else os._exit(0)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # meant for the kept process; its end ends this one
    if ended := os.waitid(os.P_PID, worker, os.WEXITED | os.WNOWAIT):
        sign = 1 if ended.si_code == os.CLD_EXITED else -1
        send(connection, status=sign * ended.si_status)
    with contextlib.suppress(OSError):  # its number is not used again until the client knows
        while connection.recv(64):
            pass
    os._exit(0)


def begin(order: Order, connection: socket.socket, keeper: int) -> bool:
    """Report that this process is alive; return whether it must go on."""
    # Without its keeper, nobody could report how it ended.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != keeper:
        return False
    os.setsid()
    send(connection, pid=os.getpid())
    return order.take_descriptors(connection)


def settle() -> list[str]:
    """Become a process that shares as much memory as possible with its forks.

    It goes on as a child, and returns the names of the threads that the import left in its parent.
    Before any fork, OpenBLAS ends its helper threads. It starts them again when they are needed.
    """
    gc.collect()
    gc.freeze()
    ctypes.CDLL(None).fflush(None)  # else each fork would write the buffered output of C code
    read_end, write_end = os.pipe()
    if os.fork():
        os.write(write_end, json.dumps(proofs.other_threads()).encode())
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as names:
        threads: list[str] = json.load(names)
    return threads


def send(connection: socket.socket, **values: object) -> None:
    """Send a line of JSON, if the other end still listens."""
    with contextlib.suppress(OSError):
        connection.sendall(json.dumps(values).encode() + b"\n")


def peer_of(connection: socket.socket) -> int:
    """Return the number of the user at the other end."""
    size = struct.calcsize("3i")
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    return int(struct.unpack("3i", credentials)[1])


def memory_is_short() -> bool:
    """Return whether the machine has little memory left; False if it does not show this."""
    try:
        fields = dict(line.split(":", 1) for line in MEMORY.read_text().splitlines())
        return int(fields["MemAvailable"].split()[0]) * 1024 < LEAST_MEMORY_BYTES
    except (OSError, KeyError, ValueError):
        return False
