"""What a person does with the opened run: stop, resume, train on, delete."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from .background import run_in_background

if TYPE_CHECKING:
    from workbench.runs import Run

T = TypeVar("T")
Tell = Callable[[str, str], None]


class RunActions:
    """Does one thing at a time, in the background where it takes longer than a moment."""

    def __init__(self, tell: Tell) -> None:
        """`tell` passes a level, info or error, and a text on to the person."""
        self._tell = tell
        self._doing = ""
        self._started: Callable[[Run], None] = lambda run: None
        self._deleted: Callable[[Run], None] = lambda run: None

    def on_started(self, started: Callable[[Run], None]) -> None:
        """Call `started`, in a background thread, with a run that was resumed."""
        self._started = started

    def on_deleted(self, deleted: Callable[[Run], None]) -> None:
        """Call `deleted`, in a background thread, with a run whose folder is gone."""
        self._deleted = deleted

    def act(self, run: Run, name: str, epochs: int | None = None) -> None:
        """Do what is called stop, resume, train_on (to `epochs` in all) or delete."""
        if name == "stop":
            self._stop(run)
        elif name == "resume":
            self._begin("Resuming", run.resume, self._started)
        elif name == "train_on":
            self._begin("Resuming", lambda: run.resume(epochs), self._started)
        elif name == "delete":
            self._begin("Deleting", run.delete, lambda _: self._deleted(run))

    def _stop(self, run: Run) -> None:
        try:
            run.stop()
        except Exception as error:
            self._tell("error", str(error))
        else:
            self._tell("info", "Asked to stop: it finishes its step and saves.")

    def _begin(self, deed: str, work: Callable[[], T], done: Callable[[T], None]) -> None:
        if self._doing:
            got = f"received {deed.lower()} amid {self._doing.lower()}"
            self._tell("error", f"One thing is done after another; {got}. Try again in a moment.")
            return
        self._doing = deed
        self._tell("info", f"{deed} ...")

        def ended(result: T) -> None:
            self._doing = ""
            self._tell("info", "")
            done(result)

        def failed(error: Exception) -> None:
            self._doing = ""
            self._tell("error", str(error))

        run_in_background(work, ended, failed)
