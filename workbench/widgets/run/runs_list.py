"""The list of earlier runs. Its rows keep their places while runs appear and disappear."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import ipywidgets as ipw

from workbench import catalog, units
from workbench.feed import title_of
from workbench.runs import RunError, list_runs
from workbench.runs.folder.events import read_events
from workbench.runs.folder.files import run_folders, runs_root
from workbench.runs.folder.state import LIVE
from workbench.runs.unreadable import why_unreadable
from workbench.widgets.kernel.poller import Poller
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import html, styled

from .bring_back import BringBack

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.runs import Run

LOOK_SECONDS = 3.0
ROWS_AT_FIRST = 12
CLASSES = ("", "", "wb-number")
COLUMNS = ("State", "Run", "Steps, test accuracy")


class RunsList:
    """Rows of runs, newest first. New runs wait behind a button, so that no row moves."""

    def __init__(self, runs_dir: str | Path | None) -> None:
        self._runs_dir = runs_dir
        self._lock = threading.RLock()
        self._rows: dict[str, _Row] = {}
        self._most = ROWS_AT_FIRST
        self._chosen: Callable[[Run], None] = lambda run: None
        self._message = html(description="State of the list of runs")
        self._head = _head()
        self._table = styled(ipw.VBox, "wb-runs", children=[])
        self._new = _small("Show new runs", "List the new runs at the top", self._reload)
        self._more = _small("Show more", "List more of the earlier runs", self._on_more)
        row = styled(ipw.HBox, "wb-row", children=[self._new, self._more])
        title = html(markup.heading("Earlier runs"), description="Section")
        back = BringBack(runs_dir, self._on_brought)
        self.box = styled(
            ipw.VBox, "wb-section", children=[title, self._message, self._table, row, back.box]
        )
        self._poller: Poller | None = None

    def on_chosen(self, chosen: Callable[[Run], None]) -> None:
        """Call `chosen` with the run whose Open button was clicked."""
        self._chosen = chosen

    def start(self) -> list[Run]:
        """List the runs, check them regularly from now on, and return them, newest first."""
        runs = self.reload()
        self._poller = Poller(self._look, self._failed)
        return runs

    def close(self) -> None:
        if self._poller is not None:
            self._poller.stop()

    def reload(self) -> list[Run]:
        """Read the folder of runs again, and list and return its runs."""
        with self._lock:
            try:
                runs = list_runs(self._runs_dir)
            except RunError as error:
                self._failed(error)
                return []
            shown = runs[: self._most]
            rows = {run.id: self._row_of(run) for run in shown}
            for row in rows.values():
                row.update()
            self._rows = rows
            self._table.children = [self._head, *(row.box for row in rows.values())] if rows else []
            count = len(runs)
            self._message.value = "" if count else markup.quiet(f"No runs in {self._root()} yet.")
            self._more.layout.display = None if count > self._most else "none"
            self._new.layout.display = "none"
            return runs

    def _row_of(self, run: Run) -> _Row:
        """Return the run's row. Make a new row if its run.json was damaged or fixed meanwhile."""
        row = self._rows.get(run.id)
        return row if row and type(row.run) is type(run) else _Row(run, self._open)

    def show_open(self, run: Run | None) -> None:
        """Mark the row of the opened run."""
        with self._lock:
            for row in self._rows.values():
                row.mark(run is not None and row.run.id == run.id)

    def _root(self) -> Path:
        return runs_root(self._runs_dir)

    def _look(self) -> float:
        with self._lock:
            there = {path.name for path in run_folders(self._root())}
            for run_id, row in self._rows.items():
                if run_id not in there:
                    row.show_deleted()
                elif row.alive:
                    row.update()
            newest = next(iter(self._rows), "")
            new = sum(1 for name in there if name > newest and name not in self._rows)
            self._new.description = "Show 1 new run" if new == 1 else f"Show {new} new runs"
            self._new.layout.display = None if new else "none"
        return LOOK_SECONDS

    def _open(self, run: Run) -> None:
        self._chosen(run)

    def _on_brought(self, run: Run) -> None:
        self.reload()
        self._chosen(run)

    def _reload(self, _: Any) -> None:
        self.reload()

    def _on_more(self, _: Any) -> None:
        self._most *= 2
        self.reload()

    def _failed(self, error: Exception) -> None:
        self._message.value = markup.notice("error", f"Runs cannot be listed: {error}")


class _Row:
    """One run in the list."""

    def __init__(self, run: Run, opened: Callable[[Run], None]) -> None:
        self.run = run
        self.alive = True
        self._button = _small("Open", f"Open {title_of(run)}", lambda _: opened(run))
        self._cells = html(description=f"Run {run.id}")
        self.box = styled(ipw.Box, "wb-run-row", children=[self._button, self._cells])

    def update(self) -> None:
        """Read the run again."""
        try:
            status = self.run.status
            cells = _cells(self.run, status)
        except Exception as error:  # an error of one row must not remove the other rows
            self.alive = False
            text = f"{self.run.id} cannot be read: {why_unreadable(error)}"
            self._cells.value = markup.quiet(text)
            return
        self.alive = status in LIVE
        self._button.disabled = False
        self._cells.value = cells

    def show_deleted(self) -> None:
        self.alive = False
        self._button.disabled = True
        self._cells.value = markup.quiet(f"{title_of(self.run)} was deleted.")

    def mark(self, is_open: bool) -> None:
        (self.box.add_class if is_open else self.box.remove_class)("wb-open-run")


def _cells(run: Run, status: str) -> str:
    config, progress = run.config, run.progress
    strategy = catalog.STRATEGIES[config.strategy].label
    replicas = f"{strategy} on {run.plan.who_trains}"
    when = time.strftime("%d %b %H:%M", time.localtime(run.created))
    about = f"{replicas}, {catalog.label_of('data', config.data)}, {when}"
    name = f"<b>{markup.text(title_of(run))}</b>{markup.quiet(about)}"
    steps = markup.text(f"{progress.step:,} of {progress.total_steps:,}")
    return _line([markup.pill(status), name, f"{steps}<br>{_test_accuracy(run)}"])


def _test_accuracy(run: Run) -> str:
    events = read_events(run.dir / run.tasks[0] / "events.jsonl")
    accuracies = [event.get("test_accuracy") for event in events if event["event"] == "epoch"]
    return units.percent(accuracies[-1]) if accuracies else "not tested"


def _line(cells: Sequence[str]) -> str:
    named = zip(CLASSES, cells, strict=True)
    spans = (f'<div class="{css}">{cell}</div>' for css, cell in named)
    return f'<div class="wb-run-cells">{"".join(spans)}</div>'


def _head() -> Any:
    names = _line([f'<span class="wb-quiet">{name}</span>' for name in COLUMNS])
    return styled(
        ipw.Box,
        "wb-run-row",
        children=[html(description="Open"), html(names, description="Columns")],
    )


def _small(label: str, tip: str, clicked: Callable[[Any], None]) -> Any:
    button = ipw.Button(description=label, tooltip=tip)
    button.add_class("wb-small")
    button.on_click(clicked)
    return button
