"""Earlier runs in a comparison: runs are added to its rows in any state, and removed again."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as ipw

from workbench.feed import describe
from workbench.runs import RunError, list_runs
from workbench.runs.folder.files import runs_root
from workbench.runs.listing import UnreadableRun, listed
from workbench.widgets.kernel.background import run_in_background
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import (
    ANY_WIDTH,
    button,
    column,
    html,
    is_visible,
    set_visible,
    styled,
)

if TYPE_CHECKING:
    from workbench.runs import Run

ROWS = 7
ABOUT = (
    "Runs of the same script share one row. Unfinished runs are not counted; the table says so. "
    "Select several with Ctrl or Shift."
)


class EarlierRuns:
    """The runs of a folder, and next to them the runs that are compared now."""

    def __init__(self, runs_dir: str | Path | None, changed: Callable[[], None]) -> None:
        self._runs_dir, self._changed = runs_dir, changed
        self.chosen: tuple[Run, ...] = ()
        """The compared runs, in the order in which they were added."""
        self._there: list[tuple[str, Run]] = []
        self._asked = button("Add earlier runs ...", "Compare other runs too", self._on_asked)
        self._found = _list("Runs in the folder")
        self._added = _list("Earlier runs in the table")
        self._add = button("Add to the table", "Compare the runs selected above", self._on_add)
        self._remove = button(
            "Remove from the table", "Stop comparing the runs selected above", self._on_remove
        )
        self._message = html(description="State of the list of earlier runs")
        sides = [
            _field(self._found, self._add),
            _field(self._added, self._remove),
        ]
        self._lists = styled(ipw.Box, "wb-beside", "wb-lists", children=sides, visible=False)
        asked = styled(ipw.Box, "wb-row", children=[self._asked, self._message])
        self.box = column(asked, self._lists)
        self._offer()

    def restore(self, folders: Sequence[Path]) -> None:
        """Compare the runs in these folders. A run that cannot be read stays in the list."""
        self.chosen = tuple(map(listed, folders))
        unreadable = [run for run in self.chosen if isinstance(run, UnreadableRun)]
        self._message.value = "".join(
            markup.notice("warning", f"The added run {run.id} cannot be read. {run.why}")
            for run in unreadable
        )
        self._offer()

    def _on_asked(self, _: Any) -> None:
        shown = not is_visible(self._lists)
        set_visible(self._lists, visible=shown)
        self._message.value = ""
        if shown:
            self._message.value = markup.quiet("Searching for runs ...")
            run_in_background(lambda: addable_runs(self._runs_dir), self._show, self._failed)

    def _show(self, found: list[tuple[str, Run]]) -> None:
        self._there = found
        none = f"No run in {runs_root(self._runs_dir)} yet."
        self._message.value = markup.quiet(ABOUT if found else none)
        self._offer()

    def _offer(self) -> None:
        """Put each run into its list: the runs of the folder or the compared runs."""
        compared = {run.dir for run in self.chosen}
        self._found.options = [pair for pair in self._there if pair[1].dir not in compared]
        self._added.options = [(_short(run), run) for run in self.chosen]
        self._add.disabled = not self._found.options
        self._remove.disabled = not self._added.options

    def _on_add(self, _: Any) -> None:
        self._choose([*self.chosen, *self._found.value])

    def _on_remove(self, _: Any) -> None:
        out = {run.dir for run in self._added.value}
        self._choose([run for run in self.chosen if run.dir not in out])

    def _choose(self, runs: Sequence[Run]) -> None:
        self.chosen = tuple(runs)
        self._offer()
        self._changed()

    def _failed(self, error: Exception) -> None:
        self._message.value = markup.notice("error", str(error))


def addable_runs(runs_dir: str | Path | None) -> list[tuple[str, Run]]:
    """Return a label and the run for each run of a folder, newest first.

    Runs that cannot be read are left out.

    Raises:
        RunError: the folder cannot be read.
    """
    found = []
    for run in list_runs(runs_dir):
        with contextlib.suppress(RunError, OSError):
            found.append((_label(run), run))
    return found


def _label(run: Run) -> str:
    state = run.status
    unfinished = "" if state == "finished" else f"{state}: "
    return f"{unfinished}{run.title}, {run.id}: {describe(run.plan)}"


def _short(run: Run) -> str:
    unreadable = isinstance(run, UnreadableRun)
    return f"{run.id}, cannot be read" if unreadable else f"{run.title}, {run.id}"


def _list(label: str) -> Any:
    return styled(
        ipw.SelectMultiple,
        options=[],
        rows=ROWS,
        description=label,
        style=ANY_WIDTH,
    )


def _field(control: Any, button: Any) -> Any:
    return styled(ipw.VBox, "wb-field", children=[control, button])
