"""A server of forks: found where one fits, started where none does, held while it is wanted."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from workbench import flock

from .forked import Forked
from .inherited import PROGRAM, name_of, soft_limits

TENSORFLOW = ("tensorflow", "keras")
LEGACY = ("tensorflow", "tf_keras")
ALIVE_SECONDS = 20.0
"""How long a fork may take to come alive, on a machine that is busy with many."""
LAUNCH_SECONDS = 20.0
"""How long an interpreter may take to start at all."""
REFUSED_SECONDS = 600.0
"""How long it is remembered why one forks nothing."""
TPU_DEVICES = "accel[0-9]*"
KEPT_SECONDS = 7 * 86_400.0
SHOWN_BYTES = 2_000
"""Room for the command line by which the system lists a forked process."""

State = Literal["absent", "loading", "ready", "refused"]


class ColdError(Exception):
    """A process cannot be forked and is to be started cold; the message says why."""


@dataclass(frozen=True)
class Order:
    """What a forked process is to run."""

    arguments: Sequence[str]
    """A script and its arguments."""
    working_dir: Path
    environment: Mapping[str, str]
    streams: tuple[int, int, int]
    """Its stdin, stdout and stderr."""
    kept_fds: Sequence[int] = ()
    """What it holds open, too."""
    named_fds: Mapping[str, int] = field(default_factory=dict)
    """Of `kept_fds`: those whose numbers it finds in its environment."""


class ForkServer:
    """The fork server of one interpreter and environment; its files are in a state folder.

    It ends with the last process that holds it, after ten minutes without an order, when memory is
    short, and at an order once something was installed.
    """

    def __init__(
        self,
        interpreter: str,
        environment: Mapping[str, str],
        state_dir: Path,
        modules: Sequence[str] | None = None,
    ) -> None:
        """`environment` is that of its processes; `modules` are imported, None: TensorFlow's."""
        self.interpreter = interpreter
        self._environment = dict(environment)
        legacy = environment.get("TF_USE_LEGACY_KERAS") == "1"
        self._modules = tuple(modules or (LEGACY if legacy else TENSORFLOW))
        self.folder = state_dir / "forks"
        self.name = name_of([interpreter, *self._modules], environment)
        self._holding: int | None = None
        self._started_at: float | None = None

    @property
    def state(self) -> State:
        """Whether it can fork now, will soon, or not: see `why_not`."""
        return self._stands()[0]

    @property
    def why_not(self) -> str:
        """Why it forks nothing, in words; empty where it does."""
        return self._stands()[1]

    def start(self) -> None:
        """Have it start where it does not run, and hold it; does not wait until it is ready.

        Raises:
            OSError: the state folder cannot be written, or the interpreter cannot be started.
        """
        self.hold()
        if never() or flock.held(self._path("lock")):
            return
        if (lock := flock.take(self._path("lock"))) is None:
            return  # another one has just started it
        try:
            os.utime(lock)
            for left in ("why", "socket"):
                self._path(left).unlink(missing_ok=True)
            self._clear()
            self._started_at = time.time()
            with self._path("log").open("wb") as log:
                command = [self.interpreter, "-u", str(PROGRAM / "begin.py"), str(self.folder)]
                launcher = subprocess.Popen(
                    [*command, self.name, str(lock), "-" * SHOWN_BYTES, *self._modules],
                    env=self._environment,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                    pass_fds=(lock,),
                )
            with contextlib.suppress(subprocess.TimeoutExpired):
                launcher.wait(LAUNCH_SECONDS)
            launcher.kill()  # it hangs before it begins
            launcher.wait()
        finally:
            os.close(lock)

    def hold(self) -> None:
        """Keep it, until `release` or the end of this process.

        Raises:
            OSError: the state folder cannot be written, or is another user's.
        """
        if self._holding is None:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self.folder.stat().st_uid != os.geteuid():
                raise PermissionError(f"{self.folder} is another user's")
            self._holding = os.open(self._path("users"), os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(self._holding, fcntl.LOCK_SH)
        self.keep()

    def keep(self) -> None:
        """Say that it is still wanted."""
        if self._holding is not None:
            os.utime(self._holding)

    def hand_on(self) -> None:
        """Have the program that this process becomes hold it."""
        if self._holding is not None:
            os.set_inheritable(self._holding, True)

    def release(self) -> None:
        """Let it end where nobody else holds it."""
        held, self._holding = self._holding, None
        if held is not None:
            os.close(held)

    def fork(self, order: Order) -> Forked:
        """Have a process forked and run what is ordered.

        Raises:
            ColdError: it cannot be; nothing of the order was run.
        """
        state, why_not = self._stands()
        if state != "ready":
            raise ColdError(why_not)
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.settimeout(ALIVE_SECONDS)
            self._connect(connection)
            return Forked(_ordered(connection, order), connection)
        except BaseException as error:
            connection.close()
            if isinstance(error, TimeoutError):
                late = f"a fork did not come alive within {ALIVE_SECONDS:g} s"
                raise ColdError(late) from error
            if isinstance(error, OSError):
                raise ColdError(f"its server cannot be reached: {error}") from error
            raise

    def _stands(self) -> tuple[State, str]:
        """Return how it stands, and why it forks nothing."""
        if reason := never():
            return "refused", reason
        try:
            if not flock.held(self._path("lock")):
                return self._gone()
            ready = self._path("socket").exists()
            return ("ready", "") if ready else ("loading", "its server is not ready")
        except OSError as error:
            return "refused", f"its folder cannot be read: {error}"

    def _gone(self) -> tuple[State, str]:
        """Return what is known of one that does not run."""
        with contextlib.suppress(FileNotFoundError):
            why = self._path("why")
            if time.time() - why.stat().st_mtime < REFUSED_SECONDS:
                return "refused", why.read_text(encoding="utf-8")
        if self._started_at is not None and not self._path("socket").exists():
            return "absent", f"its server has ended; see {self._path('log')}"
        return "absent", "TensorFlow was not loaded ahead"

    def _path(self, kind: str) -> Path:
        return self.folder / f"{self.name}.{kind}"

    def _clear(self) -> None:
        """Remove what is left of servers that nobody has started for long."""
        for lock in self.folder.glob("*.lock"):
            with contextlib.suppress(FileNotFoundError):  # another one clears, too
                if lock.stat().st_mtime < time.time() - KEPT_SECONDS and not flock.held(lock):
                    for left in self.folder.glob(f"{lock.stem}.*"):
                        left.unlink(missing_ok=True)

    def _connect(self, connection: socket.socket) -> None:
        """Connect to it, and to nobody else's."""
        folder = os.open(self.folder, os.O_RDONLY)
        try:  # a path by /proc is short: an address of a socket has 107 bytes at most
            connection.connect(f"/proc/self/fd/{folder}/{self.name}.socket")
        finally:
            os.close(folder)
        told = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        if struct.unpack("3i", told)[1] != os.geteuid():
            raise PermissionError("it is another user's")


def never() -> str:
    """Return why nothing is forked on this machine; empty where it may be."""
    if sys.platform != "linux":
        return f"forking a process with TensorFlow is not proven on {sys.platform}"
    if any(Path("/dev").glob(TPU_DEVICES)):
        return "forking a process with TensorFlow is not proven where there are TPUs"
    return ""


def _ordered(connection: socket.socket, order: Order) -> int:
    """Order a process and return its number.

    Raises:
        ColdError: it is refused, or the server has ended.
        OSError: the server cannot be heard; a TimeoutError where it does not speak in time.
    """
    descriptors = [*order.streams, *order.kept_fds]
    values = {
        "arguments": list(order.arguments),
        "working_dir": str(order.working_dir),
        "environment": dict(order.environment),
        "umask": _umask(),
        "limits": soft_limits(),
        "ignored": [int(n) for n in signal.Signals if signal.getsignal(n) == signal.SIG_IGN],
        "named": {name: descriptors.index(fd) for name, fd in order.named_fds.items()},
    }
    with contextlib.suppress(BrokenPipeError):  # it may have refused already
        connection.sendall(json.dumps(values).encode() + b"\n")
    told: dict[str, Any] = json.loads(_line(connection) or b"{}")
    if "pid" not in told:
        raise ColdError(told.get("refused", "its server ended"))
    # Only now: who holds them is to be no server that does not answer.
    socket.send_fds(connection, [b"g"], descriptors)
    return int(told["pid"])


def _line(connection: socket.socket) -> bytes:
    """Return a line, without what may follow it; what comes so far where the connection ends."""
    line = b""
    while not line.endswith(b"\n") and (part := connection.recv(1)):
        line += part
    return line


def _umask() -> int:
    """Return this process's mask without changing it, which would be its other threads' too."""
    status = Path("/proc/self/status").read_text(encoding="utf-8", errors="replace")
    return int(status.partition("Umask:")[2].split()[0], 8)
