"""Train, Stop, Resume, Delete: what a click does, and which of them make sense now."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import ipywidgets as ipw

from workbench.runs import start_run

from . import markup
from .background import run_in_background
from .fields import UnreadableError, parse_number, text_box
from .readiness import Readiness

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.devices import Devices
    from workbench.runs import Run

    from .form import FormState

RESUMABLE = ("stopped", "failed", "lost")


class RunActions:
    """The buttons. Whatever takes longer than a moment runs in the background."""

    def __init__(self, runs_dir: str | Path | None, devices: Callable[[], Devices]) -> None:
        self._runs_dir, self._devices = runs_dir, devices
        self._readiness = Readiness()
        self._state: FormState | None = None
        self._run: Run | None = None
        self._status = ""
        self._busy = False
        self._started: Callable[[Run], None] = lambda run: None
        self._deleted: Callable[[Run], None] = lambda run: None
        self._train = _button("Train", "Start a run as the form says", self._on_train, "primary")
        self._stop = _button("Stop", "Finish the step, save, and end", self._on_stop, "danger")
        self._resume = _button("Resume", "Go on from the last checkpoint", self._on_resume)
        self._delete = _button("Delete ...", "Delete the opened run's folder", self._on_delete)
        self._epochs = text_box("Epochs in all")
        self._epochs_box = ipw.VBox([self._epochs])
        self._epochs_box.add_class("wb-field")
        self._epochs_box.add_class("wb-short")
        self._reason = ipw.HTML(description="Why Train is off")
        self._message = ipw.HTML(description="Messages")
        self._question = ipw.HBox([])
        self._question.add_class("wb-row")
        buttons = [self._train, self._stop, self._epochs_box, self._resume, self._delete]
        row = ipw.Box(buttons)
        row.add_class("wb-save")
        parts = [row, self._reason, self._readiness.box, self._question, self._message]
        self.box = ipw.VBox(parts)
        self._update()

    def on_started(self, started: Callable[[Run], None]) -> None:
        """Call `started`, in a background thread, with a run that was started or resumed."""
        self._started = started

    def on_deleted(self, deleted: Callable[[Run], None]) -> None:
        """Call `deleted`, in a background thread, with a run whose folder is gone."""
        self._deleted = deleted

    def show_form(self, state: FormState, reason: str) -> None:
        """Follow the form: what Train would start, or why it is off (HTML)."""
        self._state = state
        self._reason.value = f'<div class="wb-problem">{reason}</div>' if reason else ""
        self._update()

    def edited(self, interpreter: str | None) -> None:
        """Make ready to train: a person is filling in the form."""
        self._readiness.ask(interpreter)

    def close(self) -> None:
        """Let what waits for Train end."""
        self._readiness.close()

    def show_run(self, run: Run | None, status: str, epochs: int = 0) -> None:
        """Follow the opened run."""
        if run is not self._run:
            self._question.children = []
        if run is not self._run or status not in markup.LIVE_STATES:
            self._asked_to_stop(False)
        if run is not self._run or status != self._status:
            self._epochs.value = f"{epochs * 2}" if epochs else ""
        self._run, self._status = run, status
        self._update()

    def _update(self) -> None:
        self._train.disabled = self._busy or self._state is None or self._state.plan is None
        self._stop.disabled = self._status not in ("queued", "starting", "running")
        finished = self._status == "finished"
        self._resume.disabled = self._busy or not (finished or self._status in RESUMABLE)
        self._resume.description = "Train on" if finished else "Resume"
        self._epochs_box.layout.display = None if finished else "none"
        over = bool(self._status) and self._status not in markup.LIVE_STATES
        self._delete.disabled = self._busy or not over

    def _on_train(self, _: Any) -> None:
        state = self._state
        if state is None or state.plan is None:
            return
        runs_dir, devices = self._runs_dir, self._devices()
        self._begin("Starting ...")
        warm = self._readiness.take()
        run_in_background(
            lambda: start_run(state.config, runs_dir, devices, warm=warm), self._done, self._failed
        )

    def _on_stop(self, _: Any) -> None:
        if self._run is None:
            return
        self._stop.disabled = True
        try:
            self._run.stop()
        except Exception as error:
            self._failed(error)
        else:
            self._asked_to_stop(True)

    def _asked_to_stop(self, asked: bool) -> None:
        message = markup.notice("info", "Asked to stop: it finishes its step and saves.")
        if asked or self._message.value == message:
            self._message.value = message if asked else ""

    def _on_resume(self, _: Any) -> None:
        run, epochs = self._run, None
        if run is None:
            return
        if self._status == "finished":
            try:
                epochs = int(parse_number(self._epochs.value.strip(), whole=True))
            except UnreadableError as error:
                self._message.value = markup.notice("error", f"Epochs in all: {error}")
                return
        self._begin("Resuming ...")
        run_in_background(lambda: run.resume(epochs), self._done, self._failed)

    def _on_delete(self, _: Any) -> None:
        run = self._run
        if run is None:
            return
        question = f"Delete {run.dir} with its records, checkpoints and model, for good?"
        text = ipw.HTML(markup.notice("warning", question), description="Question")
        yes = _button(
            "Delete it", "Delete the run's folder", lambda _: self._do_delete(run), "danger"
        )
        no = _button("Keep it", "Delete nothing", lambda _: self._drop_question())
        self._question.children = [text, yes, no]

    def _do_delete(self, run: Run) -> None:
        self._drop_question()
        self._begin("Deleting ...")

        def gone(_: None) -> None:
            self._end("")
            self._deleted(run)

        run_in_background(run.delete, gone, self._failed)

    def _drop_question(self) -> None:
        self._question.children = []

    def _begin(self, message: str) -> None:
        self._busy = True
        self._message.value = markup.quiet(message)
        self._update()

    def _end(self, message: str) -> None:
        self._busy = False
        self._message.value = message
        self._update()

    def _done(self, run: Run) -> None:
        self._end("")
        self._started(run)

    def _failed(self, error: Exception) -> None:
        self._end(markup.notice("error", str(error)))


def _button(label: str, tip: str, clicked: Callable[[Any], None], style: str = "") -> Any:
    button = ipw.Button(description=label, tooltip=tip, button_style=style)
    button.on_click(clicked)
    return button
