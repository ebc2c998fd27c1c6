"""The X-ray of one step of the opened run: its number field, picture and table of all numbers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import ipywidgets as ipw

from workbench import units
from workbench.runs.programs.step_xray import ReplicaXray, StepXray, WorkersXray
from workbench.widgets.kernel.background import run_in_background, waiting
from workbench.widgets.parts import markup
from workbench.widgets.parts.agreeing import Agreeing
from workbench.widgets.parts.page_parts import ANY_WIDTH, button, html, styled
from workbench.widgets.pictures.xray import draw, number, verdict

if TYPE_CHECKING:
    from workbench.runs import Run

RECORDS = {
    True: "The run's own record of the step has the same examples and loss sums.",
    None: "The run has no record of this step, by as many workers, to compare with.",
}
OTHER_RECORD = (
    "The run's own record of the step has other numbers, in the table below: the step was not done "
    "again as it was done. Random state that no checkpoint holds, or another device, can be why."
)
OTHER_LOSS = (
    "What each replica differentiated is not its loss sum over the examples of the step: Keras' "
    "own step and the user's losses may weigh a short batch, or the loss, in another way."
)


NOTHING_COMMON = (
    "Each worker sends its gradient to the parameter servers by itself, and nothing is summed. "
    "Staleness counts the updates by others between its reading of the weights and its own update. "
    "A worker without numbers has not done so many steps."
)


class Xray:
    """A page that shows the parts of one step of the opened run, on request."""

    def __init__(self) -> None:
        self._run: Run | None = None
        self._step = styled(
            ipw.IntText, value=1, description="Step, from 1", style=ANY_WIDTH,
            layout={"width": "190px"},
        )  # fmt: skip
        self._ask = button(
            "X-ray", "Do this step once more and show every replica's numbers", self._on_ask
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
        words = "Which step? The first is 1. What each replica saw in it is measured once more."
        self._state.value = markup.quiet(words)

    def _on_ask(self, _: Any) -> None:
        if self._run is not None:
            self._agreeing.before(self._run, partial(self._begin, self._run, self._step.value))

    def _begin(self, run: Run, step: int) -> None:
        self._ask.disabled = True
        words = f"Step {step:,} is done once more, from the nearest checkpoint; this takes seconds"
        self._state.value = markup.quiet(f"{words} ...")
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
        self._state.value = markup.quiet(summary(xray))
        self._picture.value = content(xray)

    def _failed(self, run: Run, error: Exception) -> None:
        if self._run is not run:
            return
        self._ask.disabled = False
        self._picture.value = ""
        self._state.value = markup.notice("error", str(error))


def summary(xray: StepXray | WorkersXray) -> str:
    """Return a one-line summary of the result of `Run.xray`."""
    if isinstance(xray, WorkersXray):
        return f"Step {xray.step:,} of each worker, which is its own: they wait for nobody."
    return (
        f"Step {xray.step:,} of epoch {xray.epoch}, done again from {xray.origin}. "
        f"Mean loss {number(xray.loss)}."
    )


def content(xray: StepXray | WorkersXray) -> str:
    """Return the result of `Run.xray` as HTML."""
    return own_steps(xray) if isinstance(xray, WorkersXray) else page(xray)


def own_steps(xray: WorkersXray) -> str:
    """Return a table of each worker's own step: its examples and its recorded numbers (HTML)."""
    title = "What each worker took in its own step"
    columns = [
        *("Worker", "Examples", "Loss sum", "Mean loss", "Correct", "Staleness"),
        "Their numbers in the training set",
    ]
    rows = [
        [
            worker.task.replace("-", "\u00a0"),
            f"{worker.examples:,}",
            *(_known(worker.loss_sum), _known(worker.loss)),
            *(_count(worker.correct), _count(worker.staleness)),
            _listed(worker.rows),
        ]
        for worker in xray.workers
    ]
    table = markup.table(title, columns, rows, numeric=range(1, 6))
    return markup.scrolling(title, table) + markup.quiet(NOTHING_COMMON)


def page(xray: StepXray) -> str:
    """Return the result of `Run.xray` as HTML: its picture, remarks on it, and all numbers."""
    parts = [draw(xray)]
    if xray.agrees is False:
        parts.append(markup.notice("warning", OTHER_RECORD))
    else:
        parts.append(markup.quiet(RECORDS[xray.agrees]))
    if not xray.divides_by_batch:
        parts.append(markup.quiet(OTHER_LOSS))
    weights = xray.weights
    if not weights.equal:
        parts.append(markup.notice("error", verdict(weights)))
    if not weights.changed:
        parts.append(markup.notice("warning", "The step did not change the weights."))
    if weights.own:
        kept = f"Not trained, and each replica keeps its own: {', '.join(weights.own)}."
        parts.append(markup.quiet(kept))
    parts.append(f"<details><summary>All numbers</summary>{_table(xray)}</details>")
    return "".join(parts)


def _table(xray: StepXray) -> str:
    columns = [
        *("Replica", "Examples", "Loss sum", "Recorded", "Difference"),
        *(f"Loss sum ÷ {xray.examples:,}", "Differentiated", "Gradient norm", "Weights"),
        "Their numbers in the training set",
    ]
    copies = [copy.sha256 for copy in xray.weights.after]
    if len(copies) < len(xray.replicas):
        copies = [f"{copies[0]} (one copy)"] * len(xray.replicas)
    rows = [
        _row(replica, copy, recorded=xray.agrees is not None)
        for replica, copy in zip(xray.replicas, copies, strict=True)
    ]
    table = markup.table("The numbers of each replica", columns, rows, numeric=range(8))
    return markup.scrolling("The numbers of each replica", table)


def _row(replica: ReplicaXray, copy: str, *, recorded: bool) -> list[str]:
    record = [
        number(value) if recorded else units.UNKNOWN
        for value in (replica.recorded_loss_sum, replica.difference)
    ]
    return [
        replica.name.removeprefix("replica "),
        f"{replica.examples:,}",
        number(replica.loss_sum),
        *record,
        *map(number, (replica.contribution, replica.loss, replica.gradient_norm)),
        copy,
        _listed(replica.rows),
    ]


def _listed(rows: list[int] | None) -> str:
    return units.UNKNOWN if rows is None else ", ".join(map(str, rows))


def _known(value: float | None) -> str:
    return units.UNKNOWN if value is None else number(value)


def _count(value: float | None) -> str:
    return units.UNKNOWN if value is None else f"{value:,.0f}"
