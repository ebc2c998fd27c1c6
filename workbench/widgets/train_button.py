"""Train: what a click starts, why it is off, and what is made ready for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import ipywidgets as ipw

from workbench.runs import start_run

from . import markup
from .background import run_in_background
from .readiness import Readiness

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.devices import Devices
    from workbench.runs import Run

    from .form import FormState


class TrainButton:
    """Starts a run as the form says, in the background."""

    def __init__(self, runs_dir: str | Path | None, devices: Callable[[], Devices]) -> None:
        self._runs_dir, self._devices = runs_dir, devices
        self._readiness = Readiness()
        self._state: FormState | None = None
        self._busy = False
        self._started: Callable[[Run], None] = lambda run: None
        self._train = ipw.Button(
            description="Train", tooltip="Start a run as the form says", button_style="primary"
        )
        self._train.on_click(self._on_train)
        self._reason = ipw.HTML(description="Why Train is off")
        self._notes = ipw.HTML(description="Notes on the plan")
        self._message = ipw.HTML(description="Messages")
        row = ipw.Box([self._train, self._readiness.box])
        row.add_class("wb-row")
        self.box = ipw.VBox([self._notes, row, self._reason, self._message])
        self._update()

    def on_started(self, started: Callable[[Run], None]) -> None:
        """Call `started`, in a background thread, with a run that was started."""
        self._started = started

    def show_form(self, state: FormState, reason: str) -> None:
        """Follow the form: what Train would start, or why it is off (HTML)."""
        self._state = state
        notes = state.plan.notes if state.plan else ()
        self._notes.value = "".join(markup.notice("warning", note) for note in notes)
        self._reason.value = f'<div class="wb-problem">{reason}</div>' if reason else ""
        self._update()

    def edited(self, interpreter: str | None) -> None:
        """Make ready to train: a person is filling in the form."""
        self._readiness.ask(interpreter)

    def close(self) -> None:
        """Let what waits for Train end."""
        self._readiness.close()

    def _update(self) -> None:
        self._train.disabled = self._busy or self._state is None or self._state.plan is None

    def _on_train(self, _: Any) -> None:
        state = self._state
        if state is None or state.plan is None:
            return
        runs_dir, devices = self._runs_dir, self._devices()
        self._busy = True
        self._message.value = markup.quiet("Starting ...")
        self._update()
        warm = self._readiness.take()
        run_in_background(
            lambda: start_run(state.config, runs_dir, devices, warm=warm), self._done, self._failed
        )

    def _done(self, run: Run) -> None:
        self._end("")
        self._started(run)

    def _failed(self, error: Exception) -> None:
        self._end(markup.notice("error", str(error)))

    def _end(self, message: str) -> None:
        self._busy = False
        self._message.value = message
        self._update()
