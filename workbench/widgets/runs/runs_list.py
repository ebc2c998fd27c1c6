"""The list of earlier runs. Its rows keep their places while runs appear and disappear."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

import ipywidgets as ipw

from workbench.runs import RunError, list_runs
from workbench.runs.consent import foreign_settings
from workbench.runs.folder.files import run_folders, runs_root
from workbench.runs.listing import listed
from workbench.widgets.kernel.background import Latest
from workbench.widgets.kernel.page_order import keep_order
from workbench.widgets.kernel.poller import Poller
from workbench.widgets.parts import markup
from workbench.widgets.parts.agreeing import Agreeing
from workbench.widgets.parts.page_parts import html, set_visible, styled

from .bring_back import BringBack
from .deleting import Deleting
from .row import Row, RowActions, small
from .search import NEWEST, Summaries
from .table import Table
from .tools import Tools

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.config import RunConfig
    from workbench.runs import Run

POLL_SECONDS = 3.0
ROWS_AT_FIRST = 20


class RunsList:
    """Rows of runs, newest first, or in the order and with the words that a person chose."""

    def __init__(self, runs_dir: str | Path | None) -> None:
        self._runs_dir = runs_dir
        self._lock = threading.RLock()
        self._summaries = Summaries()
        self._arranging: Latest[list[Run]] = Latest(0.2)
        self._runs: list[Run] = []
        self._made: dict[str, Row] = {}
        """Every row made so far. A person's click on a row is always about its run."""
        self._opened = ""
        self._day = date.today()
        self._most = ROWS_AT_FIRST
        self._chosen: Callable[[Run], None] = lambda run: None
        self._use_settings: Callable[[RunConfig], None] = lambda config: None
        self._row_actions = RowActions(self._open, self._on_settings, self._on_selected)
        self.tools = Tools(self._on_arranged, self._on_delete, self._reload)
        self._deleting = Deleting(self.tools.report, self._on_deleted)
        self._agreeing = Agreeing(self.tools.report)
        self._message = html(description="State of the list of runs")
        self._table = Table(self._on_all)
        self._more = small("Show more", "List more of the runs", self._on_more, visible=False)
        back = BringBack(runs_dir, self._on_brought)
        more = styled(ipw.HBox, "wb-row", children=[self._more])
        title = html(markup.heading("Runs"), description="Section")
        questions = [self._deleting.box, self._agreeing.box]
        parts = [title, self.tools.box, *questions, self._message, self._table.box, more, back.box]
        self.box = styled(ipw.VBox, "wb-section", "wb-runs-section", children=parts)
        keep_order(self.box)
        self._poller: Poller | None = None

    def on_chosen(self, chosen: Callable[[Run], None]) -> None:
        """Call `chosen` with the run whose Open button was clicked."""
        self._chosen = chosen

    def on_settings(self, use: Callable[[RunConfig], None]) -> None:
        """Call `use` with the config of a run whose settings are wanted for a new run."""
        self._use_settings = use

    def start(self) -> list[Run]:
        """List the runs, check them regularly from now on, and return them, newest first."""
        runs = self.reload()
        self._poller = Poller(self._poll, self._failed)
        return runs

    def close(self) -> None:
        """Stop checking the runs."""
        self._arranging.forget()
        if self._poller is not None:
            self._poller.stop()

    def reload(self) -> list[Run]:
        """Read the folder of runs again, and list and return its runs."""
        with self._lock:
            try:
                self._runs = list_runs(self._runs_dir)
            except RunError as error:
                self._failed(error)
                return []
            self._made = {run.id: self._row_of(run) for run in self._runs if run.id in self._made}
            self._arrange()
            return self._runs

    def show_open(self, run: Run | None) -> None:
        """Mark the row of the opened run."""
        with self._lock:
            self._opened = "" if run is None else run.id
            self._table.mark(self._opened)

    def _arrange(self) -> None:
        """Show the runs with the words and in the order that the person chose."""
        runs, text, order = self._runs, self.tools.text, self.tools.order
        if self._is_plain():
            self._arranging.forget()
            self._show(runs)
            return
        self.tools.count("Reading the runs ...")
        self._arranging.ask(
            lambda: self._summaries.arranged(runs, text, order), self._show, self._failed
        )

    def _is_plain(self) -> bool:
        return self.tools.order == NEWEST and not self.tools.text.strip()

    def _show(self, runs: Sequence[Run]) -> None:
        """Show the first of these runs as rows."""
        with self._lock:
            rows = {run.id: self._row_of(run) for run in runs[: self._most]}
            for row in rows.values():
                row.show(self._summaries.of(row.run))
            self._made |= rows
            self._table.show(rows)
            self._table.mark(self._opened)
            self._message.value = self._emptiness(len(runs))
            set_visible(self._more, visible=len(runs) > self._most)
            self._count(len(runs))
            self.tools.offer_new(0)

    def _row_of(self, run: Run) -> Row:
        """Return the run's row. Make a new row if its run.json was damaged or fixed meanwhile."""
        row = self._made.get(run.id)
        return row if row and type(row.run) is type(run) else Row(run, self._row_actions)

    def _emptiness(self, found: int) -> str:
        if not self._runs:
            return markup.quiet(f"No runs in {self._root()} yet.")
        return "" if found else markup.quiet("No run matches all these words.")

    def _count(self, found: int) -> None:
        of = f"{found:,} of " if found != len(self._runs) else ""
        all_runs = f"{len(self._runs):,} run{'s' * (len(self._runs) != 1)}"
        self.tools.count(of + all_runs if self._runs else "")

    def _root(self) -> Path:
        return runs_root(self._runs_dir)

    def _poll(self) -> float:
        with self._lock:
            before, self._day = self._day, date.today()  # titles have the dates of other days
            there = {path.name for path in run_folders(self._root())}
            if there and not self._runs and self._is_plain():
                self.reload()  # there is no row that could move
                return POLL_SECONDS
            for run_id, row in self._table.rows.items():
                if run_id not in there:
                    row.show_deleted()
                elif row.alive or self._day != before:
                    row.show(self._summaries.of(row.run))
            new = there - {run.id for run in self._runs}
            self.tools.offer_new(0 if self._added(new) else len(new))
        return POLL_SECONDS

    def _added(self, names: Collection[str]) -> bool:
        """Show new runs above the rows, if they fit there and the person waits for nothing else."""
        calm = self._is_plain() and not self._table.selected
        if not calm or len(names) > self._table.free:
            return False
        new = sorted((listed(self._root() / name) for name in names), key=_start)
        if new and _start(new[0]) < _start(self._runs[0]):
            return False
        for run in new:
            row = self._made[run.id] = self._row_of(run)
            row.show(self._summaries.of(run))
            self._table.add(row)
            self._runs = [run, *self._runs]
        self._table.mark(self._opened)
        self._count(len(self._runs))
        return True

    def _on_all(self, selected: bool) -> None:
        with self._lock:
            self._table.select_all(selected)

    def _on_selected(self) -> None:
        self.tools.allow_delete(len(self._table.selected))
        self._deleting.clear()

    def _on_delete(self) -> None:
        self._deleting.ask(self._table.selected)

    def _on_deleted(self) -> None:
        self.reload()
        self._on_selected()

    def _open(self, run: Run) -> None:
        self._chosen(run)

    def _on_settings(self, run: Run) -> None:
        self._agreeing.before(run, lambda: self._show_settings(run), foreign_settings)

    def _show_settings(self, run: Run) -> None:
        try:
            self._use_settings(run.config)
        except Exception as error:
            self.tools.report("error", str(error))
        else:
            self.tools.report("info", f"The form shows the settings of {run.title}.")

    def _on_brought(self, run: Run) -> None:
        self.reload()
        self._chosen(run)

    def _on_arranged(self) -> None:
        with self._lock:
            self._most = ROWS_AT_FIRST
            self._arrange()

    def _reload(self) -> None:
        self.reload()

    def _on_more(self, _: Any) -> None:
        with self._lock:
            self._most *= 2
            self._arrange()

    def _failed(self, error: Exception) -> None:
        self._message.value = markup.notice("error", f"Runs cannot be listed: {error}")


def _start(run: Run) -> tuple[float, str]:
    return run.created, run.id
