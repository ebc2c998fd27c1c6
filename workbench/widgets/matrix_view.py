"""The view "Do the strategies agree?": it compares each strategy in both loops with OneDevice."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as ipw

from workbench import catalog, units
from workbench.experiments import Matrix, run_matrix
from workbench.experiments.matrix import read_matrix, usual_steps
from workbench.runs.folder.files import runs_root
from workbench.widgets.form.fields import ChoiceField, NumberField
from workbench.widgets.kernel.background import run_in_background, waiting
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import button, html, row, section, set_visible, styled

if TYPE_CHECKING:
    from workbench.devices import Devices

ABOUT = (
    "Trains every strategy in both loops, one after another, with the same data, seed and global "
    "batches. Compares the loss of every step and the final weights with those of OneDevice in "
    "the custom loop. Each combination takes from a few seconds to a minute."
)
HEAD = ("Strategy", "Loop", "Result", "Largest loss difference", "Largest weight difference",
        "Steps/s", "Keras", "Reason")  # fmt: skip
TOO_FEW = "too few steps"
"""Shown if a run passed in a single call: its first call, which may trace, has no rate."""
MARKS = {"pass": "✓ pass", "fail": "✗ fail", "running": "running ...", "stopped": "not done"}


class MatrixView:
    """A view that runs the matrix in a thread, shows its progress, and shows the newest matrix."""

    def __init__(
        self,
        runs_dir: str | Path | None,
        devices: Callable[[], Devices],
        interpreter: Callable[[], str | None],
    ) -> None:
        self._runs_dir, self._devices, self._interpreter = runs_dir, devices, interpreter
        self._stop: threading.Event | None = None
        """The event that ends the running matrix; None if no matrix runs."""
        self._steps = NumberField("matrix_steps", "Steps of each run", whole=True)
        self._steps.show_help("All steps are in one epoch.")
        self._data = ChoiceField("matrix_data", "Data of the runs", catalog.DATA)
        self._data.on_change(self._offer_steps)
        self._start = button(
            "Compare all", "Run every strategy in both loops and compare them", self._on_start
        )
        self._end = button(
            "Stop comparing", "Stop the current run and skip the others", self._on_stop,
            visible=False,
        )  # fmt: skip
        self._progress = html(description="Progress of the comparison")
        self._table = html(description="Which strategies agree")
        fields = styled(ipw.Box, "wb-fields", children=[self._data.box, self._steps.box])
        buttons = row(self._start, self._end, self._progress)
        self.box = section("Do the strategies agree?", ABOUT, fields, buttons, self._table)
        self._offer_steps()
        self._set_busy(None)
        run_in_background(self._newest, self._show_kept, self._failed)

    def close(self) -> None:
        """Let the running matrix end after its current cell."""
        if self._stop is not None:
            self._stop.set()

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
        stop = threading.Event()
        self._set_busy(stop)
        self._progress.value = markup.quiet("Starting ...")
        run_in_background(
            waiting()(
                lambda: run_matrix(
                    steps,
                    data,
                    self._runs_dir,
                    devices,
                    interpreter,
                    self._show_running,
                    stop.is_set,
                )
            ),
            self._done,
            self._failed,
        )

    def _on_stop(self, _: Any) -> None:
        if self._stop is not None:
            self._stop.set()
            self._end.disabled = True
            self._progress.value = markup.quiet(
                "Stopping; the current run saves a checkpoint and ends."
            )

    def _set_busy(self, stop: threading.Event | None) -> None:
        self._stop = stop
        self._start.disabled = stop is not None
        self._end.disabled = stop is None
        set_visible(self._end, visible=stop is not None)

    def _show_running(self, matrix: Matrix) -> None:
        """Show the running matrix; its thread calls this often."""
        if self._stop is not None and not self._stop.is_set():
            self._progress.value = markup.quiet(progress(matrix))
        self._table.value = table(matrix.to_json())

    def _done(self, matrix: Matrix) -> None:
        self._set_busy(None)
        self._table.value = table(matrix.to_json())
        took = units.duration(matrix.seconds)
        self._progress.value = result_line(matrix.to_json(), f"in {took}", matrix.folder)

    def _failed(self, error: Exception) -> None:
        self._set_busy(None)
        self._progress.value = markup.notice("error", str(error))

    def _newest(self) -> tuple[Path, dict[str, Any]] | None:
        kept = sorted(runs_root(self._runs_dir).glob("matrix-*/matrix.json"))
        return (kept[-1].parent, read_matrix(kept[-1].parent)) if kept else None

    def _show_kept(self, kept: tuple[Path, dict[str, Any]] | None) -> None:
        if kept is None or self._stop is not None:
            return
        folder, values = kept
        for cell in values["cells"]:
            if cell["status"] in ("waiting", "running"):
                cell["status"] = "stopped"
        self._table.value = table(values)
        when = time.localtime((folder / "matrix.json").stat().st_mtime)
        self._progress.value = result_line(
            values, time.strftime("on %d %b %Y, %H:%M", when), folder
        )


def progress(matrix: Matrix) -> str:
    """Return the number of finished cells, the running cell, and the time that is left."""
    to_run = [cell for cell in matrix.cells if cell.status != "unavailable"]
    done = sum(cell.status not in ("waiting", "running") for cell in to_run)
    parts = [f"{done} of {len(to_run)} done"]
    running = matrix.running
    if running is not None:
        label = catalog.STRATEGIES[running.strategy].label
        parts.append(f"now {label}, {catalog.LOOPS[running.loop].label}")
    elif done == len(to_run):
        parts.append("comparing the weights")
    if matrix.eta_seconds is not None and running is not None:
        parts.append(f"about {units.duration(matrix.eta_seconds)} left")
    return ", ".join(parts)


def result_line(values: Mapping[str, Any], when: str, folder: Path) -> str:
    """Return the results of a finished matrix in one line (HTML)."""
    states = [cell["status"] for cell in values["cells"]]
    counts = [
        f"{states.count(state)} {word}"
        for state, word in (("pass", "passed"), ("fail", "failed"),
                            ("unavailable", "unavailable"), ("stopped", "not done"))
        if state in states
    ]  # fmt: skip
    data = catalog.label_of("data", values["data"])
    many = f"{values['steps']:,} steps each on {data}, {when}."
    return markup.quiet(f"{', '.join(counts)}; {many} Runs and certificates: {folder}")


def table(values: Mapping[str, Any]) -> str:
    """Return all cells as a table (HTML)."""
    rows = [_row(cell) for cell in values["cells"]]
    made = markup.table(
        "Which strategies agree with OneDevice's custom loop", HEAD, rows, (3, 4, 5)
    )
    return markup.scrolling("Which strategies agree", made, "wb-noted")


def _row(cell: Mapping[str, Any]) -> list[str]:
    strategy, rate = cell["strategy"], cell["steps_per_second"]
    loss = _difference(cell["max_loss_difference"])
    if cell.get("float32_loss_difference") is not None:
        loss = f"{loss} (float32: {_difference(cell['float32_loss_difference'])})"
    known = strategy in catalog.STRATEGIES
    return [
        catalog.STRATEGIES[strategy].label if known else strategy,
        cell["loop"],
        MARKS.get(cell["status"], cell["status"]),
        loss,
        _difference(cell["max_weight_difference"]),
        f"{rate:,.0f}" if rate else TOO_FEW if cell["status"] == "pass" else "",
        cell["keras"] or "",
        cell["reason"],
    ]


def _difference(value: float | None) -> str:
    """Return the largest difference as text; empty if none was measured."""
    return "" if value is None else "0" if value == 0 else f"{value:.1e}"
