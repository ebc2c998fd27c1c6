"""Earlier comparisons: a list of those in the folder of runs; a click opens one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as ipw

from workbench.experiments import list_comparisons
from workbench.runs import RunError
from workbench.runs.folder.files import runs_root
from workbench.runs.title import start_of
from workbench.widgets.kernel.background import run_in_background
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import (
    button,
    column,
    html,
    is_visible,
    set_visible,
    styled,
)

if TYPE_CHECKING:
    from workbench.experiments import Comparison, UnreadableComparison

ROWS_AT_FIRST = 10
NAMES = 3
"""The most candidates that are named in a row."""


@dataclass(frozen=True)
class Summary:
    """What the list shows of a comparison."""

    comparison: Comparison
    name: str
    """The candidates, or why they cannot be read."""
    start: str
    runs: str
    state: str
    """Empty if the comparison cannot be read."""


class EarlierComparisons:
    """The comparisons of a folder of runs, newest first, each with a button that opens it."""

    def __init__(
        self, runs_dir: str | Path | None, open_comparison: Callable[[Comparison], None]
    ) -> None:
        self._runs_dir, self._open = runs_dir, open_comparison
        self._found: Sequence[Summary] = ()
        self._shown: Path | None = None
        self._most = ROWS_AT_FIRST
        self._asked = button(
            "Earlier comparisons ...", "List the comparisons in the folder of runs", self._on_asked
        )
        self._message = html(description="State of the list of comparisons")
        self._rows = styled(ipw.VBox, "wb-compared", children=[])
        self._more = button("Show more", "List more of the comparisons", self._on_more)
        self._list = styled(ipw.VBox, children=[self._rows, self._more], visible=False)
        asked = styled(ipw.Box, "wb-row", children=[self._asked, self._message])
        self.box = column(asked, self._list)

    def warn(self, unreadable: Sequence[UnreadableComparison]) -> None:
        """Say which comparisons cannot be read, and why, also while the list is closed."""
        self._message.value = "".join(
            markup.notice("warning", f"{each.folder.name} cannot be read. {each.why}")
            for each in unreadable
        )

    def mark(self, folder: Path) -> None:
        """Mark the comparison that is shown. A list that is open is read again."""
        self._shown = folder
        if is_visible(self._list):
            self._read()

    def _on_asked(self, _: Any) -> None:
        shown = not is_visible(self._list)
        set_visible(self._list, visible=shown)
        self._message.value = ""
        if shown:
            self._most = ROWS_AT_FIRST
            self._message.value = markup.quiet("Searching for comparisons ...")
            self._read()

    def _on_more(self, _: Any) -> None:
        self._most *= 2
        self._draw()

    def _read(self) -> None:
        run_in_background(lambda: summaries(self._runs_dir), self._show, self._failed)

    def _show(self, found: Sequence[Summary]) -> None:
        self._found = found
        none = f"No comparison in {runs_root(self._runs_dir)} yet."
        self._message.value = "" if found else markup.quiet(none)
        self._draw()

    def _draw(self) -> None:
        self._rows.children = [self._row(each) for each in self._found[: self._most]]
        set_visible(self._more, visible=len(self._found) > self._most)

    def _row(self, summary: Summary) -> Any:
        comparison = summary.comparison
        is_shown = comparison.folder == self._shown
        title = f"{summary.name}, {summary.start}"
        opens = button(
            "Shown" if is_shown else "Open",
            f"Show {title}",
            lambda _: self._open(comparison),
        )
        opens.add_class("wb-small")
        opens.disabled = is_shown or not summary.state
        cells = html(_cells(summary), description=f"Comparison {comparison.folder.name}")
        marks = ("wb-open-run",) if is_shown else ()
        return styled(ipw.Box, "wb-compared-row", *marks, children=[cells, opens])

    def _failed(self, error: Exception) -> None:
        self._message.value = markup.notice("error", str(error))


def summaries(runs_dir: str | Path | None) -> list[Summary]:
    """Return what a list shows of each comparison of a folder, newest first.

    Raises:
        RunError: the folder cannot be read.
    """
    return [_summary(each) for each in list_comparisons(runs_dir)]


def _summary(comparison: Comparison) -> Summary:
    try:
        labels = [each.label for each in comparison.request.candidates]
        runs = f"{comparison.ended} of {comparison.planned} runs"
        start, state = start_of(comparison.request.created, dated=True), comparison.state
    except RunError as error:
        return Summary(comparison, str(error), "", "", "")
    except (LookupError, TypeError, ValueError) as error:
        why = f"Its files are damaged ({type(error).__name__}: {error})."
        return Summary(comparison, f"{why} Restore them, or delete the folder.", "", "", "")
    return Summary(comparison, _named(labels), start, runs, state)


def _named(labels: Sequence[str]) -> str:
    more = len(labels) - NAMES
    return ", ".join(labels[:NAMES]) + (f" and {more} more" if more > 0 else "")


def _cells(summary: Summary) -> str:
    folder = summary.comparison.folder.name
    name = f'{markup.text(summary.name)}<div class="wb-quiet">{markup.text(folder)}</div>'
    state = markup.pill(summary.state) if summary.state else ""
    cells = (state, name, markup.text(summary.start), markup.text(summary.runs))
    inside = "".join(f"<div>{cell}</div>" for cell in cells)
    return f'<div class="wb-compared-cells">{inside}</div>'
