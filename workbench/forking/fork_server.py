"""A fork server: used if a fitting one runs, started if none does, held while it is wanted."""

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
"""How long a fork may take to report itself, on a machine that is busy with many processes."""
LAUNCH_SECONDS = 20.0
"""How long an interpreter may take to start at all."""
REFUSED_SECONDS = 600.0
"""How long a server's reason to fork nothing is remembered."""
TPU_DEVICES = "accel[0-9]*"
KEPT_SECONDS = 7 * 86_400.0
SHOWN_BYTES = 2_000
"""The room for the command line under which the system lists a forked process."""

State = Literal["absent", "loading", "ready", "refused"]


class ColdError(Exception):
    """A process cannot be forked and must be started cold. The message gives the reason."""


@dataclass(frozen=True)
class Order:
    """The command that a forked process must run, with its surroundings."""

    arguments: Sequence[str]
    """A script and its arguments."""
    working_dir: Path
    environment: Mapping[str, str]
    streams: tuple[int, int, int]
    """Its stdin, stdout and stderr."""
    kept_fds: Sequence[int] = ()
    """Other descriptors that it holds open."""
    named_fds: Mapping[str, int] = field(default_factory=dict)
    """The descriptors of `kept_fds` whose numbers it finds in its environment, by variable."""


class ForkServer:
    """The fork server of one interpreter and environment. Its files are in a state folder.

    It ends with the last process that holds it, after ten minutes without an order, or if memory is
    short. It also ends at the first order after an installation of packages.
    """

    def __init__(
        self,
        interpreter: str,
        environment: Mapping[str, str],
        state_dir: Path,
        modules: Sequence[str] | None = None,
    ) -> None:
        """Set the `environment` of its processes, and `modules` to import; None: TensorFlow's."""
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
        """The state: whether it can fork now, soon, or not. See `why_not`."""
        return self._stands()[0]

    @property
    def why_not(self) -> str:
        """The reason why it forks nothing, as text; empty if it forks."""
        return self._stands()[1]

    def start(self) -> None:
        """Start the server if it does not run, and hold it. This does not wait until it is ready.

        Raises:
            OSError: the state folder cannot be written, or the interpreter cannot be started.
        """
        self.hold()
        if never() or flock.held(self._path("lock")):
            return
        if (lock := flock.take(self._path("lock"))) is None:
            return  # another process has just started it
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
            launcher.kill()  # if it still runs, it hangs before the server starts
            launcher.wait()
        finally:
            os.close(lock)

    def hold(self) -> None:
        """Hold the server until `release` or the end of this process.

        Raises:
            OSError: the state folder cannot be written, or belongs to another user.
        """
        if self._holding is None:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self.folder.stat().st_uid != os.geteuid():
                raise PermissionError(f"{self.folder} belongs to another user")
            self._holding = os.open(self._path("users"), os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(self._holding, fcntl.LOCK_SH)
        self.keep()

    def keep(self) -> None:
        """Record that the server is still wanted."""
        if self._holding is not None:
            os.utime(self._holding)

    def hand_on(self) -> None:
        """Let the next program of this process (after exec) hold the server."""
        if self._holding is not None:
            os.set_inheritable(self._holding, True)

    def release(self) -> None:
        """Let the server end if no other process holds it."""
        held, self._holding = self._holding, None
        if held is not None:
            os.close(held)

    def fork(self, order: Order) -> Forked:
        """Fork a process that runs the order, and return it.

        Raises:
            ColdError: no process can be forked; no part of the order was run.
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
                late = f"a forked process did not report itself within {ALIVE_SECONDS:g} s"
                raise ColdError(late) from error
            if isinstance(error, OSError):
                raise ColdError(f"its server cannot be reached: {error}") from error
            raise

    def _stands(self) -> tuple[State, str]:
        """Return the state, and the reason why the server forks nothing."""
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
        """Return the state and the reason of a server that does not run."""
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
        """Remove the files of servers that nobody has started for `KEPT_SECONDS`."""
        for lock in self.folder.glob("*.lock"):
            with contextlib.suppress(FileNotFoundError):  # another process clears too
                if lock.stat().st_mtime < time.time() - KEPT_SECONDS and not flock.held(lock):
                    for left in self.folder.glob(f"{lock.stem}.*"):
                        left.unlink(missing_ok=True)

    def _connect(self, connection: socket.socket) -> None:
        """Connect to the server, but never to another user's server."""
        folder = os.open(self.folder, os.O_RDONLY)
        try:  # a path by /proc is short: a socket's address has 107 bytes at most
            connection.connect(f"/proc/self/fd/{folder}/{self.name}.socket")
        finally:
            os.close(folder)
        size = struct.calcsize("3i")
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
        if struct.unpack("3i", credentials)[1] != os.geteuid():
            raise PermissionError("it belongs to another user")


def never() -> str:
    """Return the reason why this machine forks nothing; empty if it may fork."""
    if sys.platform != "linux":
        return f"forking a process with TensorFlow is not proven to be safe on {sys.platform}"
    if any(Path("/dev").glob(TPU_DEVICES)):
        return "forking a process with TensorFlow is not proven to be safe on a machine with TPUs"
    return ""


def _ordered(connection: socket.socket, order: Order) -> int:
    """Order a process and return its number.

    Raises:
        ColdError: the order is refused, or the server has ended.
        OSError: the connection fails; TimeoutError if the server does not answer in time.
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
    reply: dict[str, Any] = json.loads(_line(connection) or b"{}")
    if "pid" not in reply:
        raise ColdError(reply.get("refused", "its server ended"))
    # Only now: a server that does not answer must not hold them.
    socket.send_fds(connection, [b"g"], descriptors)
    return int(reply["pid"])


def _line(connection: socket.socket) -> bytes:
    """Read one line and nothing after it; return a part of a line if the connection ends."""
    line = b""
    while not line.endswith(b"\n") and (part := connection.recv(1)):
        line += part
    return line


def _umask() -> int:
    """Return this process's umask without a change, which would affect its other threads."""
    status = Path("/proc/self/status").read_text(encoding="utf-8", errors="replace")
    return int(status.partition("Umask:")[2].split()[0], 8)
