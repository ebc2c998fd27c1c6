"""The conditions under which a process that has imported TensorFlow may be forked."""

import contextlib
import os
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

HANDLES = ("/dev/nvidia", "/dev/accel", "/dev/vfio", "/dev/kfd", "/dev/dxg")
"""Devices of GPUs and TPUs, whose state a fork would share."""
FORK_PROOF = ("jemalloc_bg_thd",)
"""Threads that their libraries restart after a fork, by the libraries' own handlers. This one is of
pyarrow's allocator (jemalloc_postfork_child in jemalloc.c). Keras loads pandas, which loads it."""
THREAD_SECONDS = 2.0
"""How long the system may still list a thread that was asked to end."""


def why_not(threads: list[str]) -> str:
    """Return the reason why this process must not be forked; empty if it may be forked.

    `threads` are the names of its threads other than the main thread.
    """
    if threads:
        names = ", ".join(threads)
        return f"its import left threads running, which a forked process would lack: {names}"
    if opened := open_devices():
        return f"its import opened {', '.join(opened)}"
    if has_context():
        return "its import used TensorFlow, and after that a process must not be forked"
    return ""


def other_threads() -> list[str]:
    """Return the names of this process's threads, except the main one and `FORK_PROOF`."""
    deadline = time.monotonic() + THREAD_SECONDS
    while (found := list(_other_threads())) and time.monotonic() < deadline:
        time.sleep(0.01)
    return found


def _other_threads() -> Iterator[str]:
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # it has just ended
            name = (task / "comm").read_text(encoding="utf-8").strip()
            if int(task.name) != os.getpid() and name not in FORK_PROOF:
                yield name


def open_devices() -> list[str]:
    """Return the GPUs and TPUs that this process holds open."""
    found = set[str]()
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):  # the descriptor of this listing, closed by now
            found.add(str(link.readlink()))
    return sorted(path for path in found if path.startswith(HANDLES))


def has_context() -> bool:
    """Return whether TensorFlow has its devices and threads, which its first operation makes.

    Raises:
        AttributeError: this TensorFlow does not show it.
    """
    eager = sys.modules.get("tensorflow.python.eager.context")
    made = eager.context_safe() if eager is not None else None
    return made is not None and bool(made._initialized)


class Stamps:
    """The last write times and sizes of files and folders, to notice later changes."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._known = {path: stamp(path) for path in paths}

    def changed(self) -> str:
        """Return the first path that has changed; empty if none has."""
        return next((path for path, known in self._known.items() if stamp(path) != known), "")


def files_of(modules: list[str]) -> list[str]:
    """Return the files of these modules, without modules that are not imported from a file."""
    files = (getattr(sys.modules.get(name), "__file__", None) for name in modules)
    return [file for file in files if file]


def package_folders() -> list[str]:
    """Return the folders into which an installer writes packages."""
    return [path for path in sys.path if path.endswith("-packages")]


def stamp(path: str) -> tuple[int, int] | None:
    """Return when a file was written last and its size; None if it is missing."""
    with contextlib.suppress(OSError):
        found = Path(path).stat()
        return found.st_mtime_ns, found.st_size
    return None
