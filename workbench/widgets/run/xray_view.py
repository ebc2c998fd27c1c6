"""The X-ray of one step of the opened run: its number field, picture and table of all numbers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import ipywidgets as ipw

from workbench.pictures import xray_words as words
from workbench.pictures.xray import draw, left_out
from workbench.runs.programs.step_xray import StepXray, WorkersXray
from workbench.widgets.kernel.background import run_in_background, waiting
from workbench.widgets.parts import markup
from workbench.widgets.parts.agreeing import Agreeing
from workbench.widgets.parts.page_parts import ANY_WIDTH, button, html, styled

if TYPE_CHECKING:
    from workbench.runs import Run


TOGETHER = "Choose a step. X-ray repeats it, to measure what each replica saw in it."
APART = "Choose a step. X-ray shows which batch each worker took in its own step of that number."


class Xray:
    """A page that shows the parts of one step of the opened run, on request."""

    def __init__(self) -> None:
        self._run: Run | None = None
        self._step = styled(
            ipw.IntText, value=1, description="Step (from 1)", style=ANY_WIDTH,
            layout={"width": "190px"},
        )  # fmt: skip
        self._ask = button(
            "X-ray", "Repeat this step and show the numbers of every replica", self._on_ask
        )
        self._state = html(description="State of the X-ray")
        self._agreeing = Agreeing(self._say)
        row = styled(ipw.Box, "wb-row", children=[self._step, self._ask, self._state])
        self._picture = html(description="One step taken apart")
        title = html(markup.heading("X-ray of one step"), description="Section")
        parts = [title, row, self._agreeing.box, self._picture]
        self.box = styled(ipw.VBox, "wb-section", children=parts)

    def show(self, run: Run | None, status: str) -> None:
        """Follow the opened run."""
        if run is None or (self._run is not None and run.id == self._run.id):
            self._run = run
            return
        self._run = run
        self._agreeing.clear()
        self._ask.disabled = False
        self._picture.value = ""
        self._state.value = markup.quiet(TOGETHER if run.plan.synchronous else APART)

    def _on_ask(self, _: Any) -> None:
        if self._run is not None:
            self._agreeing.before(self._run, partial(self._begin, self._run, self._step.value))

    def _begin(self, run: Run, step: int) -> None:
        self._ask.disabled = True
        doing = "Finding the batches of" if not run.plan.synchronous else "Repeating"
        self._state.value = markup.quiet(f"{doing} step {step:,}; this takes seconds ...")
        run_in_background(
            waiting()(lambda: run.xray(step)),
            lambda xray: self._show(run, xray),
            lambda error: self._failed(run, error),
        )

    def _say(self, level: str, text: str) -> None:
        self._state.value = markup.notice(level, text) if level == "error" else markup.quiet(text)

    def _show(self, run: Run, xray: StepXray | WorkersXray) -> None:
        if self._run is not run:
            return
        self._ask.disabled = False
        self._state.value = markup.quiet(words.summary(xray))
        self._picture.value = content(xray)

    def _failed(self, run: Run, error: Exception) -> None:
        if self._run is not run:
            return
        self._ask.disabled = False
        self._picture.value = ""
        self._state.value = markup.notice("error", str(error))


def content(xray: StepXray | WorkersXray) -> str:
    """Return the result of `Run.xray` as HTML."""
    return own_steps(xray) if isinstance(xray, WorkersXray) else page(xray)


def own_steps(xray: WorkersXray) -> str:
    """Return a table of each worker's own step: its examples and its recorded numbers (HTML)."""
    head, rows = words.own_columns(), words.own_rows(xray)
    table = markup.table(words.OWN_TITLE, head, rows, numeric=words.OWN_NUMERIC)
    return markup.scrolling(words.OWN_TITLE, table) + _remarks(xray)


def page(xray: StepXray) -> str:
    """Return the result of `Run.xray` as HTML: its picture, remarks on it, and all numbers."""
    more = left_out(xray)
    table = markup.table(words.TITLE, words.columns(xray), words.rows(xray), words.NUMERIC)
    numbers = markup.scrolling(words.TITLE, table)
    return "".join(
        [
            draw(xray),
            markup.quiet(more) if more else "",
            _remarks(xray),
            f"<details><summary>All numbers</summary>{numbers}</details>",
        ]
    )


def _remarks(xray: StepXray | WorkersXray) -> str:
    return "".join(
        markup.quiet(text) if level == "quiet" else markup.notice(level, text)
        for level, text in words.remarks(xray)
    )
