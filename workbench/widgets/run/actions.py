"""The person's actions on the opened run: stop, resume, delete and others."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from workbench import units
from workbench.runs.consent import ForeignCode, foreign_code, foreign_settings
from workbench.widgets.kernel.background import run_in_background
from workbench.widgets.parts.agreeing import Agreeing

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.config import RunConfig
    from workbench.runs import Run

T = TypeVar("T")
Report = Callable[[str, str], None]


class RunActions:
    """The actions on a run. Slow actions run in the background, one at a time."""

    def __init__(self, report: Report) -> None:
        """`report` shows the person a text. Its first argument is the level: info or error."""
        self._report = report
        self.agreeing = Agreeing(report)
        self._doing = ""
        self._started: Callable[[Run], None] = lambda run: None
        self._deleted: Callable[[Run], None] = lambda run: None
        self._use_settings: Callable[[RunConfig], None] = lambda config: None

    def on_started(self, started: Callable[[Run], None]) -> None:
        """Call `started`, in a background thread, with a run that was resumed."""
        self._started = started

    def on_deleted(self, deleted: Callable[[Run], None]) -> None:
        """Call `deleted`, in a background thread, with a run whose folder was deleted."""
        self._deleted = deleted

    def on_settings(self, use: Callable[[RunConfig], None]) -> None:
        """Call `use` with the config of a run whose settings are wanted for a new run."""
        self._use_settings = use

    def act(self, run: Run, name: str, epochs: int | None = None, task: str = "") -> None:
        """Do an action: stop, kill a task, resume, train_on, pack, settings or delete.

        `epochs` is the total number of epochs of train_on.
        """
        at_once: dict[str, tuple[Callable[[], None], str]] = {
            "stop": (run.stop, "Asked to stop: the run finishes its step and saves a checkpoint."),
            "kill": (lambda: run.kill(task), _killed(run, task)),
        }
        if name in at_once:
            self._ask(*at_once[name])
        elif name == "settings":
            self.agreeing.before(run, partial(self._show_settings, run), foreign_settings)
        elif name == "resume":
            self._resume(run, None)
        elif name == "train_on":
            self._resume(run, epochs)
        elif name == "pack":
            self._begin("Packing", run.pack, self._report_packed)
        elif name == "delete":
            self._begin("Deleting", run.delete, lambda _: self._deleted(run))

    def _show_settings(self, run: Run) -> None:
        shown = f"The form shows the settings of {run.title}."
        self._ask(lambda: self._use_settings(run.config), shown)

    def _resume(self, run: Run, epochs: int | None, agreed: str = "") -> None:
        """Resume a run; a person must first agree to its code if this machine did not start it.

        `agreed` is the digest of the code that a person has agreed to.
        """

        def work() -> Run | ForeignCode:
            return foreign_code(run.dir, epochs, agreed) or run.resume(epochs)

        def done(result: Run | ForeignCode) -> None:
            if isinstance(result, ForeignCode):
                again = partial(self._resume, run, epochs, result.digest)
                self.agreeing.ask(result, again)
            else:
                self._started(result)

        self._begin("Resuming", work, done)

    def _ask(self, action: Callable[[], None], message: str) -> None:
        try:
            action()
        except Exception as error:
            self._report("error", str(error))
        else:
            self._report("info", message)

    def _report_packed(self, path: Path) -> None:
        size = units.byte_size(path.stat().st_size)
        where = "Download it in the file browser."
        self._report("info", f"Packed {path}, {size}. {where}")

    def _begin(self, action: str, work: Callable[[], T], done: Callable[[T], None]) -> None:
        if self._doing:
            self._report("error", f"Still {self._doing.lower()}. Try again in a moment.")
            return
        self._doing = action
        self._report("info", f"{action} ...")

        def ended(result: T) -> None:
            self._doing = ""
            self._report("info", "")
            done(result)

        def failed(error: Exception) -> None:
            self._doing = ""
            self._report("error", str(error))

        run_in_background(work, ended, failed)


def _killed(run: Run, task: str) -> str:
    alone = run.restarts_alone(task)
    everyone = "all tasks restart from the checkpoint"
    then = "it restarts, and the others keep training" if alone else everyone
    return f"{task} was killed; {then}."
