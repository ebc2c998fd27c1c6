"""What a forked process does to become what `python -u script arguments...` would have been."""

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
    """What is to be run, and how."""

    arguments: list[str]
    """The script, then its own arguments."""
    working_dir: str
    environment: dict[str, str]
    umask: int
    limits: dict[str, int]
    """The soft limits that `resource` names."""
    ignored: list[int]
    """The signals, of `HANDLERS`, that it ignores."""
    named: dict[str, int]
    """Variables of the environment that are to name one of the descriptors, by its place."""
    descriptors: list[int] = field(default_factory=list)
    """Of stdin, stdout and stderr, and what else is to be held open."""

    @classmethod
    def receive(cls, connection: socket.socket) -> "Order | None":
        """Return the order that comes in, without descriptors; None where none does.

        Raises:
            OSError: the connection fails.
            TypeError, ValueError: it is no order of this release.
        """
        with connection.makefile("rb") as lines:
            line = lines.readline()
        return cls(**json.loads(line)) if line.endswith(b"\n") else None

    def take_descriptors(self, connection: socket.socket) -> bool:
        """Wait for the word to begin, with which they come; return whether it did."""
        with contextlib.suppress(OSError):
            word, descriptors, *_ = socket.recv_fds(connection, 1, MOST_DESCRIPTORS)
            self.descriptors.extend(descriptors)
            return bool(word)
        return False


@dataclass(frozen=True)
class Start:
    """What the server was started with, before anything was imported."""

    environment: dict[str, str]
    paths: list[str]
    """Where modules were looked for before all others."""

    @classmethod
    def now(cls) -> "Start":
        """Return what there is now."""
        return cls(dict(os.environ), paths_in(os.environ))


def obey(order: Order, start: Start) -> None:
    """Run the script as `__main__`; returns, raises and exits as it does."""
    for number, descriptor in enumerate(order.descriptors[:3]):
        os.dup2(descriptor, number)
        os.close(descriptor)
    take_on(order, start)
    words = [sys.executable, "-u", *order.arguments]
    sys.argv, sys.orig_argv = list(order.arguments), words
    show_as(words)
    script = order.arguments[0]
    sys.path[:] = [*paths_in(os.environ), *(each for each in sys.path if each not in start.paths)]
    if not os.environ.get("PYTHONSAFEPATH"):
        sys.path.insert(0, str(Path(script).parent))
    be_oneself()
    sys.excepthook = tell_error
    run(script)


def take_on(order: Order, start: Start) -> None:
    """Take on environment, folder, mask, limits and signals."""
    # What the import itself has set stays, as it would be set again by an import of the script's.
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
    """Forget what processes that were forked from one server would share.

    Python's own random numbers are begun anew by Python itself.
    """
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()
    if "tempfile" in sys.modules:
        vars(sys.modules["tempfile"])["tempdir"] = None  # TensorFlow's import asks for it
    if "multiprocessing.process" in sys.modules:
        sys.modules["multiprocessing.process"].current_process().authkey = os.urandom(32)


def paths_in(environment: Mapping[str, str]) -> list[str]:
    """Return where Python looks for modules before all others."""
    given = environment.get("PYTHONPATH")
    return [str(Path.cwd() / path) for path in given.split(os.pathsep)] if given else []


def show_as(words: list[str]) -> None:
    """Be listed among the system's processes by these words, as far as there is room for them.

    They are written over those of the server: see "arg_start" in proc_pid_stat(5).
    """
    told = Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    start, end = map(int, told[45:47])
    if end - start > 1:  # some sandboxes tell nothing
        text = b"\0".join(map(os.fsencode, words))[: end - start - 1]
        ctypes.memset(start, 0, end - start)
        ctypes.memmove(start, text, len(text))


def run(script: str) -> None:
    """Run it in a module that stays, for threads and exit handlers that outlive its last line."""
    module = types.ModuleType("__main__")
    loader = SourceFileLoader("__main__", script)
    vars(module).update(__file__=script, __loader__=loader, __builtins__=builtins, __cached__=None)
    sys.modules["__main__"] = module
    exec(compile(Path(script).read_bytes(), script, "exec", dont_inherit=True), vars(module))


def tell_error(
    kind: type[BaseException], error: BaseException, trace: types.TracebackType | None
) -> None:
    """Print what Python prints, from the script's own first line on."""
    here = str(Path(__file__).parent)
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(here):
        trace = trace.tb_next
    sys.__excepthook__(kind, error.with_traceback(trace), trace)
