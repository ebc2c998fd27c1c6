"""The steps by which a forked process becomes like one of `python -u script arguments...`."""

import builtins
import contextlib
import ctypes
import json
import os
import resource
import signal
import socket
import sys
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

MOST_DESCRIPTORS = 32
HANDLERS: dict[signal.Signals, Any] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGHUP: signal.SIG_DFL,
}


@dataclass(frozen=True)
class Order:
    """The command to run, and its surroundings."""

    arguments: list[str]
    """The script, then its own arguments."""
    working_dir: str
    environment: dict[str, str]
    umask: int
    limits: dict[str, int]
    """The soft limits, by their names in `resource`."""
    ignored: list[int]
    """The signals that the client ignores. Only signals in `HANDLERS` have an effect."""
    named: dict[str, int]
    """Environment variables that must hold a descriptor's number, with the descriptor's place."""
    descriptors: list[int] = field(default_factory=list)
    """The descriptors of stdin, stdout and stderr, then others to hold open."""

    @classmethod
    def receive(cls, connection: socket.socket) -> "Order | None":
        """Return the order that comes in, without descriptors; None if none comes.

        Raises:
            OSError: the connection fails.
            TypeError, ValueError: the line is no order of this release.
        """
        with connection.makefile("rb") as lines:
            line = lines.readline()
        return cls(**json.loads(line)) if line.endswith(b"\n") else None

    def take_descriptors(self, connection: socket.socket) -> bool:
        """Wait for the start byte, which brings the descriptors; return whether it came."""
        with contextlib.suppress(OSError):
            word, descriptors, *_ = socket.recv_fds(connection, 1, MOST_DESCRIPTORS)
            self.descriptors.extend(descriptors)
            return bool(word)
        return False


@dataclass(frozen=True)
class Start:
    """The environment and paths with which the server was started, before any import."""

    environment: dict[str, str]
    paths: list[str]
    """The folders in which modules were searched first."""

    @classmethod
    def now(cls) -> "Start":
        """Return the present environment and paths."""
        return cls(dict(os.environ), paths_in(os.environ))


def obey(order: Order, start: Start) -> None:
    """Run the script as `__main__`; return, raise and exit as the script does."""
    for number, descriptor in enumerate(order.descriptors[:3]):
        os.dup2(descriptor, number)
        os.close(descriptor)
    take_on(order, start)
    command = [sys.executable, "-u", *order.arguments]
    sys.argv, sys.orig_argv = list(order.arguments), command
    show_as(command)
    script = order.arguments[0]
    sys.path[:] = [*paths_in(os.environ), *(each for each in sys.path if each not in start.paths)]
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    if not os.environ.get("PYTHONSAFEPATH"):
        sys.path.insert(0, str(Path(script).parent))
    be_oneself()
    sys.excepthook = print_error
    run(script)


def take_on(order: Order, start: Start) -> None:
    """Take on the order's environment, folder, umask, limits and signals."""
    # Variables set by the import stay, because an import of the script would set them again.
    for name in start.environment.keys() - order.environment.keys():
        os.environ.pop(name, None)
    os.environ.update(order.environment)
    for name, place in order.named.items():
        os.environ[name] = str(order.descriptors[place])
    os.chdir(order.working_dir)
    os.umask(order.umask)
    for name, soft in order.limits.items():
        kind = getattr(resource, name)
        resource.setrlimit(kind, (soft, resource.getrlimit(kind)[1]))
    for number, handler in HANDLERS.items():
        signal.signal(number, signal.SIG_IGN if number in order.ignored else handler)


def be_oneself() -> None:
    """Reset the values that all processes forked from one server would share.

    Python itself reseeds its own random numbers.
    """
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()
    if "tempfile" in sys.modules:
        vars(sys.modules["tempfile"])["tempdir"] = None  # set by TensorFlow's import
    if "multiprocessing.process" in sys.modules:
        sys.modules["multiprocessing.process"].current_process().authkey = os.urandom(32)


def paths_in(environment: Mapping[str, str]) -> list[str]:
    """Return the folders in which Python searches modules first."""
    given = environment.get("PYTHONPATH")
    return [str(Path.cwd() / path) for path in given.split(os.pathsep)] if given else []


def show_as(command: list[str]) -> None:
    """Make the system list this process under this command line, as far as there is room for it.

    It is written over the command line of the server: see "arg_start" in proc_pid_stat(5).
    """
    fields = Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    start, end = map(int, fields[45:47])
    if end - start > 1:  # some sandboxes show no addresses
        text = b"\0".join(map(os.fsencode, command))[: end - start - 1]
        ctypes.memset(start, 0, end - start)
        ctypes.memmove(start, text, len(text))


def run(script: str) -> None:
    """Run a script in a module that stays: threads and exit handlers may outlive its last line."""
    module = types.ModuleType("__main__")
    loader = SourceFileLoader("__main__", script)
    vars(module).update(__file__=script, __loader__=loader, __builtins__=builtins, __cached__=None)
    sys.modules["__main__"] = module
    exec(compile(Path(script).read_bytes(), script, "exec", dont_inherit=True), vars(module))


def print_error(
    kind: type[BaseException], error: BaseException, trace: types.TracebackType | None
) -> None:
    """Print an error as Python does, with the trace from the script's own first line on."""
    here = str(Path(__file__).parent)
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(here):
        trace = trace.tb_next
    sys.__excepthook__(kind, error.with_traceback(trace), trace)
