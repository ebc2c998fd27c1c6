"""Work that must not make a button wait: daemon threads whose errors come back to the view.

They end before the interpreter does. A thread that draws at that moment comes back from C++ to an
interpreter that is gone, and takes the process down with it (SIGABRT, pybind/pybind11#2215).
"""

from __future__ import annotations

import atexit
import contextlib
import contextvars
import functools
import threading
import time
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")
Request = tuple[Callable[[], T], Callable[[T], None], Callable[[Exception], None]]
"""Work, what hears its result, and what hears why there is none."""

ONE_TENSORFLOW = threading.Lock()
"""Held while a view waits for a child that imports TensorFlow: two at once slow each other down."""
END_SECONDS = 10.0
"""What threads have at the most to end in, before the interpreter does."""

_CELL = contextvars.copy_context()
_LIVING: dict[threading.Thread, Callable[[], None]] = {}
"""The threads that have not ended, and what tells each to."""
_WAITING: set[threading.Thread] = set()
_ENDING = threading.Event()
_STARTING = threading.Lock()


def start_thread(
    body: Callable[[], None], name: str, stop: Callable[[], None] = lambda: None
) -> threading.Thread:
    """Start a daemon thread that speaks for the cell that imported this; `stop` tells it to end.

    ipykernel 7.4 sends what a page says on a comm to the subshell for which the kernel spoke last
    on it (`Comm._reply_subshell_for`). Of a thread that is the one of the newest request, and
    that may be gone: the page is then never heard again. The cell's is the main shell.
    """

    def live() -> None:
        try:
            _CELL.copy().run(body)
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
    """Within it a thread waits for others, such as a child: the interpreter may end without it."""
    thread = threading.current_thread()
    _WAITING.add(thread)
    try:
        yield
    finally:
        _WAITING.discard(thread)
        if _ENDING.is_set():
            raise SystemExit


@atexit.register
def end_threads() -> None:
    """Tell all threads to end, and wait for those that are at work."""
    with _STARTING:
        _ENDING.set()
        living = list(_LIVING.items())
    for _, stop in living:
        stop()
    deadline = time.monotonic() + END_SECONDS
    for thread, _ in living:
        while thread.is_alive() and thread not in _WAITING and time.monotonic() < deadline:
            thread.join(0.05)


def run_in_background(
    work: Callable[[], T],
    done: Callable[[T], None],
    failed: Callable[[Exception], None],
    stop: Callable[[], None] = lambda: None,
) -> threading.Thread:
    """Call `done` with what `work` returns, or `failed` with what it raised, in another thread.

    `stop` tells the work to end before the interpreter does.
    """

    def body() -> None:
        try:
            done(work())
        except Exception as error:
            failed(error)

    return start_thread(body, "workbench-background", stop)


class Latest(Generic[T]):
    """One background job at a time; of the requests made meanwhile only the newest is done next.

    `settle_seconds` is waited before each job, so that typing does not start one a key.
    """

    def __init__(self, settle_seconds: float = 0.0) -> None:
        self._settle_seconds = settle_seconds
        self._asked = threading.Condition()
        self._next: Request[T] | None = None
        self._running = False

    def ask(
        self, work: Callable[[], T], done: Callable[[T], None], failed: Callable[[Exception], None]
    ) -> None:
        """Do this next; `done` and `failed` are not called where a newer request overtook it."""
        with self._asked:
            self._next = (work, done, failed)
            self._asked.notify()
            if self._running:
                return
            self._running = True
        start_thread(self._serve, "workbench-latest", self.forget)

    def forget(self) -> None:
        """Drop the request that waits, and what the running one will return."""
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
        """Take out a request that is done; return False where another overtook it."""
        with self._asked:
            if self._next is not request:
                return False
            self._next = None
            return True
