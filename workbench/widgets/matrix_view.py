"""The view "Do the strategies agree?": it compares each strategy in both loops with OneDevice."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as ipw

from workbench import catalog, units
from workbench.experiments import Cell, Comparison, Matrix, matrix_of, newest_matrix, start_matrix
from workbench.experiments.cells import HEAD
from workbench.experiments.matrix import usual_steps
from workbench.widgets.comparison.origin import refuse_foreign
from workbench.widgets.comparison.snapshot import GOING_ON
from workbench.widgets.form.fields import ChoiceField, NumberField
from workbench.widgets.kernel.background import run_in_background
from workbench.widgets.kernel.poller import Poller
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import button, html, row, section, set_visible, styled

if TYPE_CHECKING:
    from workbench.devices import Devices

ABOUT = (
    "Trains every strategy in both loops, one after another, with the same data, seed and global "
    "batches. Compares the loss of every step and the final weights with those of OneDevice in "
    "the custom loop. Each combination takes from a few seconds to a minute. The comparison "
    "continues when this page is closed."
)
MARKS = {"pass": "✓ pass", "fail": "✗ fail", "running": "running ..."}
POLL_SECONDS = 0.5


class MatrixView:
    """A view that starts, follows, stops and resumes a matrix; first the newest one."""

    def __init__(
        self,
        runs_dir: str | Path | None,
        devices: Callable[[], Devices],
        interpreter: Callable[[], str | None],
    ) -> None:
        self._runs_dir, self._devices, self._interpreter = runs_dir, devices, interpreter
        self._comparison: Comparison | None = None
        self._state: str | None = None
        self._poller: Poller | None = None
        self._closed = False
        self._steps = NumberField("matrix_steps", "Steps of each run", whole=True)
        self._steps.show_help("All steps are in one epoch.")
        self._data = ChoiceField("matrix_data", "Data of the runs", catalog.DATA)
        self._data.on_change(self._offer_steps)
        self._start = button(
            "Compare all", "Run every strategy in both loops and compare them", self._on_start
        )
        self._stop = button(
            "Stop comparing", "Stop the current run, with a checkpoint", self._on_stop
        )
        self._resume = button(
            "Resume comparing", "Continue where the comparison was stopped", self._on_resume
        )
        self._progress = html(description="Progress of the comparison")
        self._table = html(description="Which strategies agree")
        fields = styled(ipw.Box, "wb-fields", children=[self._data.box, self._steps.box])
        buttons = row(self._start, self._stop, self._resume, self._progress)
        self.box = section("Do the strategies agree?", ABOUT, fields, buttons, self._table)
        self._offer_steps()
        self._show_buttons()
        run_in_background(lambda: newest_matrix(runs_dir), self._show_newest, self._failed)

    def close(self) -> None:
        """Stop looking; the matrix goes on."""
        self._closed = True
        if self._poller is not None:
            self._poller.stop()

    def _offer_steps(self) -> None:
        self._steps.write(usual_steps(self._data.read()))

    def _on_start(self, _: Any) -> None:
        typed = self._steps.read_or_say()
        if typed is None:
            return
        if (steps := int(typed)) < 1:
            self._steps.show_problems([f"must be above 0; got {steps}. Type 200, for example."])
            return
        data, devices, interpreter = self._data.read(), self._devices(), self._interpreter()
        self._begin(lambda: start_matrix(steps, data, self._runs_dir, devices, interpreter))

    def _on_resume(self, _: Any) -> None:
        comparison = self._comparison
        if comparison is None:
            return

        def resumed() -> Comparison:
            refuse_foreign(comparison)
            if not comparison.alive:  # else it was resumed elsewhere
                comparison.resume()
            return comparison

        self._begin(resumed)

    def _begin(self, begin: Callable[[], Comparison]) -> None:
        if self._start.disabled:  # by an earlier click
            return
        self._start.disabled = self._resume.disabled = True
        self._progress.value = markup.quiet("Starting ...")
        run_in_background(begin, self._follow, self._failed)

    def _on_stop(self, _: Any) -> None:
        if self._comparison is not None:
            self._comparison.stop()
            self._stop.disabled = True

    def _show_newest(self, newest: Comparison | None) -> None:
        if newest is not None and self._comparison is None and not self._start.disabled:
            self._follow(newest)

    def _follow(self, comparison: Comparison) -> None:
        if not self._closed:
            self._comparison = comparison
            self._poller = Poller(self._poll, self._failed)

    def _poll(self) -> float | None:
        """Show the matrix, and its progress or its result."""
        assert self._comparison is not None
        self._state, matrix = self._comparison.state, matrix_of(self._comparison)
        self._table.value = table(matrix.cells)
        ended = self._state in ("finished", "stopped")
        text = result_line(matrix, self._comparison.folder) if ended else self._comparison.progress
        self._progress.value = markup.quiet(text)
        self._show_buttons()
        return POLL_SECONDS if self._state in GOING_ON else None

    def _show_buttons(self) -> None:
        alive = self._state in GOING_ON
        self._start.disabled = alive
        self._stop.disabled = self._state == "stopping"
        self._resume.disabled = False
        set_visible(self._stop, visible=alive)
        set_visible(self._resume, visible=self._state in ("stopped", "lost"))

    def _failed(self, error: Exception) -> None:
        self._show_buttons()
        self._progress.value = markup.notice("error", str(error))


def result_line(matrix: Matrix, folder: Path) -> str:
    """Return the results of a matrix that is over, in one line."""
    data = catalog.label_of("data", matrix.data)
    when = time.strftime("on %d %b %Y, %H:%M", time.localtime(matrix.created))
    many = f"{matrix.steps:,} steps each on {data}, {when}, in {units.duration(matrix.seconds)}."
    return f"{matrix.counted}; {many} Runs and certificates: {folder}"


def table(cells: Sequence[Cell]) -> str:
    """Return all cells as a table (HTML)."""
    rows = [_row(cell) for cell in cells]
    made = markup.table(
        "Which strategies agree with OneDevice's custom loop", HEAD, rows, (3, 4, 5)
    )
    return markup.scrolling("Which strategies agree", made)


def _row(cell: Cell) -> list[str]:
    strategy, loop, status, *numbers = cell.texts()
    return [strategy, loop, MARKS.get(status, status), *numbers]
