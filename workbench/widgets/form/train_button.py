"""The button Train: the run that it starts, why it is off, and the preparation for it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import ipywidgets as ipw

from workbench.plan import PlanError, Problem, make_plan, rehearsal_in_words, rehearsed
from workbench.plan.launching import is_local
from workbench.plan.placement import ON_ONE_DEVICE
from workbench.runs import list_runs, start_run
from workbench.runs.folder.files import runs_root
from workbench.runs.listing import living
from workbench.runs.processes.forks import COLD
from workbench.runs.supervise.queue import in_line, named
from workbench.widgets.kernel.background import run_in_background
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import button, html, set_visible, styled

from .question import Answer, Question
from .readiness import Readiness

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.config import RunConfig
    from workbench.devices import Devices
    from workbench.plan import Plan
    from workbench.runs import Run

    from .form import FormState

REHEARSE = (
    "Train this config with several worker processes on this machine. First you see what changes "
    "and can cancel. If you kill a worker, training recovers: all workers restart from the "
    "checkpoint, or the chief waits for that worker"
)
LONG_EPOCHS = 1_000
"""Epochs of a rehearsal that leave a person time to kill a worker."""


class TrainButton:
    """The button that starts the form's run in the background, and the button for a rehearsal."""

    def __init__(self, runs_dir: str | Path | None, devices: Callable[[], Devices]) -> None:
        self._runs_dir, self._devices = runs_dir, devices
        self._readiness = Readiness(self._queue)
        self._question = Question()
        self._show: Callable[[Run], None] = lambda run: None
        self._state: FormState | None = None
        self._legacy = False
        """Whether the newest plan trains with the tf-keras package."""
        self._busy = False
        self._started: Callable[[Run], None] = lambda run: None
        self._refused: Callable[[Iterable[Problem]], None] = lambda problems: None
        self._train = button(
            "Train", "Start a run with the form's config", self._on_train, "primary"
        )
        self._rehearse = button("Rehearse workers", REHEARSE, self._on_rehearse)
        self._reason = html(description="Why Train is off")
        self._notes = html(description="Notes on the plan")
        self._message = html(description="Messages")
        self._edits = html(description="Edits of the opened script")
        self.buttons = styled(ipw.Box, "wb-row", children=[self._train, self._rehearse])
        messages = [
            self._reason, self._readiness.box, self._question.box, self._message, self._edits,
            self._notes,
        ]  # fmt: skip
        self.messages = styled(ipw.VBox, "wb-messages", children=messages)
        self._update()

    def on_started(self, started: Callable[[Run], None]) -> None:
        """Call `started`, in a background thread, with a run that was started."""
        self._started = started

    def on_show(self, show: Callable[[Run], None]) -> None:
        """Call `show` with the living run that a person wants to see instead of a second one."""
        self._show = show

    def on_refused(self, refused: Callable[[Iterable[Problem]], None]) -> None:
        """Call `refused`, in a background thread, with the problems that a start found."""
        self._refused = refused

    def show_edits(self, text: str) -> None:
        """Show a note on the edits of an opened script; no text, no note."""
        self._edits.value = markup.notice("warning", text) if text else ""

    def show_form(self, state: FormState, reason: str) -> None:
        """Follow the form: its state, and the reason why Train is off (HTML)."""
        if self._state is not None and state.config != self._state.config:
            self.clear()
        self._state = state
        notes = state.plan.notes if state.plan else ()
        warnings = [note for note in notes if note != ON_ONE_DEVICE]
        self._notes.value = "".join(markup.notice("warning", note) for note in warnings)
        kind = "wb-problem" if state.problems else "wb-quiet"
        self._reason.value = f'<div class="{kind}">{reason}</div>' if reason else ""
        set_visible(self._readiness.box, visible=not state.problems)
        self._update()

    def clear(self) -> None:
        """Withdraw the question and the message of an earlier start: the form or the run is new."""
        self._question.clear()
        if not self._busy:
            self._message.value = ""

    def edited(self, config: RunConfig) -> None:
        """Prepare for training, because a person is filling in the form.

        A TensorFlow build for TPUs is not loaded ahead, because it takes the TPU when it is
        imported. If a run has the TPU at that time, the imported build cannot be used later.
        """
        here = config.start != COLD and is_local(config)
        if here and not self._devices().tensorflow_for_tpus:
            if self._state is not None and self._state.plan is not None:
                self._legacy = self._state.plan.legacy_keras
            self._readiness.ask(config.interpreter or sys.executable, legacy=self._legacy)
        else:
            self._readiness.rest()

    def close(self) -> None:
        """End the preparation for Train."""
        self._readiness.close()

    def _update(self) -> None:
        self._train.disabled = self._rehearse.disabled = self._startable() is None

    def _startable(self) -> tuple[RunConfig, Plan] | None:
        state = self._state
        if state is None or state.plan is None or state.problems:
            return None
        return state.config, state.plan

    def _on_train(self, _: Any) -> None:
        if (startable := self._startable()) is not None:
            config, runs_dir = startable[0], self._runs_dir
            self._ask_or_start(lambda devices: start_run(config, runs_dir, devices))

    def _on_rehearse(self, _: Any) -> None:
        if (startable := self._startable()) is None or self._busy:
            return
        config, plan = startable
        try:
            planned = make_plan(rehearsed(config), self._devices(), plan.data_facts)
        except PlanError as error:
            self._failed(error)
            return
        self._message.value = ""
        epochs = dict.fromkeys((config.epochs, max(config.epochs, LONG_EPOCHS)))
        self._question.ask(
            f"{rehearsal_in_words(config)} Its plan: {planned.arithmetic}.",
            *(self._rehearsal(replace(config, epochs=number)) for number in epochs),
        )

    def _rehearsal(self, config: RunConfig) -> Answer:
        """Return the answer that starts the rehearsal of a config."""
        runs_dir = self._runs_dir

        def start(devices: Devices) -> Run:
            return start_run(rehearsed(config), runs_dir, devices)

        tip = "A run with more epochs leaves time to kill a worker; Stop ends it at any time"
        label = f"Rehearse {config.epochs:,} epoch{'s' * (config.epochs != 1)}"
        return Answer(label, tip, lambda: self._ask_or_start(start))

    def _ask_or_start(self, start: Callable[[Devices], Run]) -> None:
        """Start a run, after a question if another one is alive. Meanwhile, clicks do nothing.

        The button is not disabled meanwhile, because a disabled button loses the keyboard's focus.
        """
        if self._busy:
            return
        self._begin()

        def found(living: Run | None) -> None:
            if living is None:
                self._start(start)
            else:
                self._end("")
                self._ask_second(living, lambda: self._start(start))

        run_in_background(
            lambda: next(living(list_runs(self._runs_dir)), None), found, self._failed
        )

    def _ask_second(self, living: Run, start: Callable[[], None]) -> None:
        name = f"{living.title} ({living.id})"
        self._question.ask(
            f"{name} is {living.status}. A second run that needs the same devices waits in the "
            "queue until they are free.",
            Answer("Start another run", "Start a second run", start),
            Answer("Show that run", f"Open {name}", lambda: self._show(living)),
        )

    def _queue(self) -> str:
        """Return the devices for which a new run would wait and the runs ahead; else empty."""
        if (startable := self._startable()) is None or startable[0].start_now:
            return ""
        devices = startable[1].physical_devices
        ahead = named(in_line(devices), runs_root(self._runs_dir))
        return f"{', '.join(devices)} behind {ahead}" if ahead else ""

    def _begin(self) -> None:
        self._busy = True
        self._question.clear()
        self._message.value = markup.quiet("Starting ...")

    def _start(self, start: Callable[[Devices], Run]) -> None:
        devices = self._devices()
        self._begin()
        run_in_background(lambda: start(devices), self._done, self._failed)

    def _done(self, run: Run) -> None:
        self._end("")
        self._started(run)

    def _failed(self, error: Exception) -> None:
        self._end(markup.notice("error", str(error)))
        if isinstance(error, PlanError):
            self._refused(error.problems)

    def _end(self, message: str) -> None:
        self._busy = False
        self._message.value = message
