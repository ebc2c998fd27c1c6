"""Long work on request, with its progress and a button that stops it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from workbench import units
from workbench.config import ConfigError
from workbench.runs.folder.files import StoppedError
from workbench.widgets.kernel.background import ONE_TENSORFLOW, run_in_background
from workbench.widgets.kernel.poller import Poller

from . import markup
from .page_parts import button, html, set_visible

T = TypeVar("T")
OnProgress = Callable[[str, float | None], object]
"""A callback that gets the present activity and the seconds left; None means unknown."""
Stopped = Callable[[], bool]

POLL_SECONDS = 1.0
WAIT_SECONDS = 0.2


class LongWork:
    """One long job at a time, in the background. It waits while another view uses TensorFlow."""

    def __init__(self, name: str, on_busy: Callable[[bool], None]) -> None:
        """`on_busy` is called with True when work begins, and with False when it ends.

        The second call comes before the result of the work is passed on.
        """
        self._on_busy = on_busy
        self._turn = threading.Lock()
        self._stop: threading.Event | None = None
        """The event that stops the work in progress; None if there is none."""
        self._poller: Poller | None = None
        self._activity = ""
        self._end: float | None = None
        self.button = button("Stop measuring", f"Stop {name}", self._on_stop, visible=False)
        self.state = html(description=f"State of: {name}")

    @property
    def busy(self) -> bool:
        """Whether work is in progress."""
        return self._stop is not None

    def begin(self, work: Callable[[OnProgress, Stopped], T], done: Callable[[T], None]) -> None:
        """Start the work, unless other work is in progress, and call `done` with its result.

        A failure is shown.
        """
        if self.busy:
            return
        stop = threading.Event()
        self._stop, self._activity, self._end = stop, "Waiting for other TensorFlow work", None
        self._show_button()
        self._on_busy(True)

        def alone() -> T:
            with _turn_of_tensorflow(stop):
                return work(
                    lambda activity, left: self._set_progress(stop, activity, left), stop.is_set
                )

        self._poller = Poller(lambda: self._poll(stop), self._show_error)
        run_in_background(
            alone,
            lambda result: self._finish(stop, "", lambda: done(result)),
            lambda error: self._finish(stop, _why_ended(error), lambda: None),
            stop.set,
        )

    def say(self, text: str) -> None:
        """Show a line of plain text instead of the progress."""
        self.state.value = markup.quiet(text)

    def report(self, level: str, text: str) -> None:
        """Show a text instead of the progress; the level is info or error."""
        self.state.value = markup.notice(level, text) if level == "error" else markup.quiet(text)

    def give_up(self) -> None:
        """Stop the work in progress. Its progress and its result are not shown any more."""
        with self._turn:
            stop, self._stop = self._stop, None
        if stop is not None:
            stop.set()
            self._put_away()

    def _on_stop(self, _: Any) -> None:
        with self._turn:
            if self._stop is None:
                return
            self._stop.set()
            self.button.disabled = True
            self.say("Stopping ...")

    def _set_progress(
        self, stop: threading.Event, activity: str, left_seconds: float | None
    ) -> None:
        with self._turn:
            if self._stop is stop:
                now = time.monotonic()
                self._activity = activity
                self._end = None if left_seconds is None else now + left_seconds
        self._poll(stop)

    def _poll(self, stop: threading.Event) -> float:
        with self._turn:
            if self._stop is stop and not stop.is_set():
                self.say(progress(self._activity, self._end))
        return POLL_SECONDS

    def _finish(self, stop: threading.Event, message: str, then: Callable[[], None]) -> None:
        with self._turn:
            if self._stop is not stop:
                return
            self._stop = None
            self.state.value = message
        self._put_away()
        then()

    def _put_away(self) -> None:
        if self._poller is not None:
            self._poller.stop()
        self._show_button()
        self._on_busy(False)

    def _show_button(self) -> None:
        self.button.disabled = False
        set_visible(self.button, visible=self._stop is not None)

    def _show_error(self, error: Exception) -> None:
        self.state.value = _why_ended(error)


def progress(activity: str, end: float | None) -> str:
    """Return the present activity and the time left. `end` is a time of the monotonic clock."""
    if end is None:
        return f"{activity} ..."
    left = end - time.monotonic()
    if left <= 0:
        return f"{activity}; this takes longer than expected ..."
    return f"{activity}; about {units.duration(left)} left ..."


@contextmanager
def _turn_of_tensorflow(stop: threading.Event) -> Iterator[None]:
    while not ONE_TENSORFLOW.acquire(timeout=WAIT_SECONDS):
        if stop.is_set():
            raise StoppedError("Stopped before it started.")
    try:
        yield
    finally:
        ONE_TENSORFLOW.release()


def _why_ended(error: Exception) -> str:
    if isinstance(error, StoppedError):
        return markup.quiet("Stopped.")
    problems = error.problems if isinstance(error, ConfigError) else [error]
    return "".join(markup.notice("error", str(each)) for each in problems)
