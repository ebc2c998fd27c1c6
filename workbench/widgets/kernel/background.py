"""Daemon threads for work that must not make a button wait. Their errors return to the view.

The threads end before the interpreter ends. A thread that draws at that moment would return from
C++ to an interpreter that no longer exists. This aborts the process (SIGABRT,
pybind/pybind11#2215).
"""

from __future__ import annotations

import atexit
import contextlib
import contextvars
import functools
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")
Request = tuple[Callable[[], T], Callable[[T], None], Callable[[Exception], None]]
"""The work, the callback for its result, and the callback for its error."""

ONE_TENSORFLOW = threading.Lock()
"""A lock that is held while a view waits for a child process that imports TensorFlow.

Two such processes slow each other down.
"""

_CELL = contextvars.copy_context()
_LIVING: dict[threading.Thread, Callable[[], None]] = {}
"""The threads that have not ended, each with the function that asks it to end."""
_WAITING: set[threading.Thread] = set()
_ENDING = threading.Event()
_STARTING = threading.Lock()


def as_the_cell(work: Callable[[], T]) -> T:
    """Do work in the context of the cell that imported this module, and return its result."""
    return _CELL.copy().run(work)


def start_thread(
    body: Callable[[], None], name: str, stop: Callable[[], None] = lambda: None
) -> threading.Thread:
    """Start a daemon thread in the context of the cell that imported this module.

    `stop` asks the thread to end.

    ipykernel 7.4 passes a page's message on a comm to a subshell: the subshell for which the
    kernel last sent a message on this comm (`Comm._reply_subshell_for`). For a message of a plain
    thread, this is the subshell of the newest request. That subshell may have ended, and then no
    message of the page arrives any more. The cell's context belongs to the main shell.
    """

    def live() -> None:
        try:
            as_the_cell(body)
        finally:
            _LIVING.pop(thread, None)

    thread = threading.Thread(target=live, name=name, daemon=True)
    with _STARTING:
        if not _ENDING.is_set():
            _LIVING[thread] = stop
            thread.start()
    return thread


@contextlib.contextmanager
def waiting() -> Iterator[None]:
    """Mark the thread as waiting for others, such as a child process.

    The interpreter may end without waiting for such a thread.
    """
    thread = threading.current_thread()
    _WAITING.add(thread)
    try:
        yield
    finally:
        _WAITING.discard(thread)
        if _ENDING.is_set():
            raise SystemExit


with contextlib.suppress(ImportError):  # a program without a kernel may lack it
    # Exit handlers run in reverse order. After its own one, pyzmq fails in the middle of a large
    # message, and the page cannot read the next message either. So it is registered before ours.
    import zmq.utils.garbage  # noqa: F401


@atexit.register
def end_threads() -> None:
    """Ask all threads to end, wait for the threads that are working, and send their messages.

    This has no time limit, like Python's own wait for threads. A busy machine can need a minute.
    """
    with _STARTING:
        _ENDING.set()
        living = list(_LIVING.items())
    for _, stop in living:
        stop()
    for thread, _ in living:
        while thread.is_alive() and thread not in _WAITING:
            thread.join(0.05)
    sys.stdout.flush()  # in a kernel, this waits until all messages are sent


def run_in_background(
    work: Callable[[], T],
    done: Callable[[T], None],
    failed: Callable[[Exception], None],
    stop: Callable[[], None] = lambda: None,
) -> threading.Thread:
    """Do `work` in another thread; call `done` with its result, or `failed` with its error.

    `stop` asks the work to end before the interpreter ends.
    """

    def body() -> None:
        try:
            done(work())
        except Exception as error:
            failed(error)

    return start_thread(body, "workbench-background", stop)


class Latest(Generic[T]):
    """One background job at a time. Of the requests made meanwhile, only the newest is done next.

    Each job waits `settle_seconds` before it starts, so that typing does not start a job per key.
    """

    def __init__(self, settle_seconds: float = 0.0) -> None:
        self._settle_seconds = settle_seconds
        self._asked = threading.Condition()
        self._next: Request[T] | None = None
        self._running = False

    def ask(
        self, work: Callable[[], T], done: Callable[[T], None], failed: Callable[[Exception], None]
    ) -> None:
        """Do this work next. If a newer request replaces it, `done` and `failed` are not called."""
        with self._asked:
            self._next = (work, done, failed)
            self._asked.notify()
            if self._running:
                return
            self._running = True
        start_thread(self._serve, "workbench-latest", self.forget)

    def forget(self) -> None:
        """Drop the waiting request, and the result of the running request."""
        with self._asked:
            self._next = None
            self._asked.notify()

    def _serve(self) -> None:
        try:
            while (request := self._settled()) is not None:
                self._answer(request)
        except BaseException:
            with self._asked:
                self._running = False  # the next request starts another thread
            raise

    def _answer(self, request: Request[T]) -> None:
        work, done, failed = request
        try:
            result = work()
        except Exception as error:
            if self._finish(request):
                failed(error)
            return
        if self._finish(request):
            try:
                done(result)
            except Exception as error:
                failed(error)

    def _settled(self) -> Request[T] | None:
        with self._asked:
            while self._next is not None:
                request = self._next
                overtaken = functools.partial(self._overtakes, request)
                self._asked.wait_for(overtaken, self._settle_seconds)
                if self._next is request:
                    return request
            self._running = False
            return None

    def _overtakes(self, request: object) -> bool:
        return self._next is not request

    def _finish(self, request: object) -> bool:
        """Remove a request that is done. Return False if a newer request replaced it."""
        with self._asked:
            if self._next is not request:
                return False
            self._next = None
            return True
