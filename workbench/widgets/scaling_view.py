"""The view "Should I scale?": on request, it measures how far more replicas help the opened run."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.experiments.scaling import (
    STEPS,
    Scaling,
    expected_seconds,
    saved_scaling,
    should_scale,
)
from workbench.runs import RunError
from workbench.runs.folder.state import LIVE
from workbench.widgets.form.fields import CheckField, NumberField
from workbench.widgets.form.layout import grid
from workbench.widgets.parts import markup
from workbench.widgets.parts.agreeing import Agreeing
from workbench.widgets.parts.long_work import LongWork, OnProgress, Stopped
from workbench.widgets.parts.page_parts import button, html, row, section
from workbench.widgets.pictures import scaling as scaling_picture

if TYPE_CHECKING:
    from workbench.runs import Run

ABOUT = (
    "Measures the gradient noise scale at the run's newest checkpoint, from the gradients of the "
    "replicas before they are summed. It shows up to which global batch more replicas help. The "
    "run is not changed."
)
KEPT = "Measured before; click Measure to measure again."
TRAINS = "The run continues during the measurement; both take longer."


class ShouldScale:
    """A view that measures on request, and shows the answer with the numbers behind it."""

    def __init__(self) -> None:
        self._run: Run | None = None
        self._alive = False
        self._work = LongWork("measuring the noise scale", self._set_busy)
        self._agreeing = Agreeing(self._work.report)
        self._steps = NumberField("noise_steps", "Batches to measure", whole=True)
        self._steps.write(STEPS)
        self._steps.show_help(
            "More batches give a narrower interval. Small data has fewer batches."
        )
        self._growth = CheckField("noise_growth", "At older checkpoints too")
        self._growth.show_help(
            "Also at the first weights, to show how the noise scale grew in training."
        )
        self._measure = button(
            "Measure", "Take gradients at the newest checkpoint, without training", self._on_measure
        )
        self._found = html(description="How far more replicas help")
        self.box = section(
            "Should I scale?",
            ABOUT,
            grid([self._steps.box, self._growth.box]),
            row(self._measure, self._work.button, self._work.state),
            self._agreeing.box,
            self._found,
        )

    def show(self, run: Run | None, status: str) -> None:
        """Follow the opened run; a measurement of another run is cancelled."""
        same = run is not None and self._run is not None and run.id == self._run.id
        alive = status in LIVE
        if same and alive == self._alive:
            return
        self._run, self._alive = run, alive
        if not same:
            self._work.give_up()
            self._agreeing.clear()
            self._found.value = "" if run is None else _kept_answer(run)
        if not self._work.busy:
            kept = KEPT if self._found.value else ""
            self._work.say(f"{kept} {TRAINS if alive else ''}".strip())

    def _set_busy(self, busy: bool) -> None:
        self._measure.disabled = busy

    def _on_measure(self, _: Any) -> None:
        run = self._run
        if run is None:
            return
        typed = self._steps.read_or_say()
        if typed is None:
            return
        begin = partial(self._begin, run, int(typed), growth=self._growth.read())
        self._agreeing.before(run, begin)

    def _begin(self, run: Run, steps: int, *, growth: bool) -> None:
        self._found.value = ""

        def work(on_progress: OnProgress, stopped: Stopped) -> Scaling:
            on_progress("Measuring gradients", expected_seconds(run, steps, growth=growth))
            return should_scale(run, steps, growth=growth, stopped=stopped)

        self._work.begin(work, self._show_answer)

    def _show_answer(self, answer: Scaling) -> None:
        if self._run is not None and self._run.id == answer.run:
            self._found.value = scaling_picture.page(answer)


def _kept_answer(run: Run) -> str:
    try:
        answer = saved_scaling(run)
    except RunError as error:
        return markup.notice("warning", str(error))
    return "" if answer is None else scaling_picture.page(answer)
