"""The rows of the list on the page, and the places above them for new runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import ipywidgets as ipw

from workbench.widgets.parts.page_parts import styled

from .row import Row, head

if TYPE_CHECKING:
    from workbench.runs import Run

MOST_ARRIVALS = 8
"""New runs that appear by themselves, until the list is drawn again."""


class Table:
    """Rows below a line with the names of the columns.

    A page builds a changed list of widgets again from the first difference on. So a new run
    appears in an empty place above the rows, and no row is built again. The style sheet keeps it
    hidden while the pointer is over the list.
    """

    def __init__(self, selected: Callable[[bool], None]) -> None:
        """`selected` is called when a person checks or unchecks all rows."""
        self._head = head(selected)
        self._places = [styled(ipw.Box, "wb-arrival", children=[]) for _ in range(MOST_ARRIVALS)]
        self.rows: dict[str, Row] = {}
        """The shown rows from the top, by the ids of their runs."""
        self.box = styled(ipw.VBox, "wb-runs", children=[])

    @property
    def free(self) -> int:
        """How many new runs have a place."""
        return sum(not place.children for place in self._places) if self.rows else 0

    @property
    def selected(self) -> list[Run]:
        """The runs whose check boxes are checked."""
        return [row.run for row in self.rows.values() if row.selected]

    def show(self, rows: Mapping[str, Row]) -> None:
        """Show these rows; rows that are no longer shown are no longer selected."""
        for run_id, row in self.rows.items():
            row.selected = row.selected and run_id in rows
        for place in self._places:
            place.children = []
        self.rows = dict(rows)
        boxes = [row.box for row in rows.values()]
        self.box.children = [self._head, *self._places, *boxes] if rows else []

    def add(self, row: Row) -> None:
        """Show the row of a new run at the top; there must be a free place."""
        place = next(place for place in reversed(self._places) if not place.children)
        place.children = [row.box]
        self.rows = {row.run.id: row, **self.rows}

    def select_all(self, selected: bool) -> None:
        """Check or uncheck all rows."""
        for row in self.rows.values():
            row.selected = selected

    def mark(self, run_id: str) -> None:
        """Mark the row of the opened run."""
        for row in self.rows.values():
            row.mark(row.run.id == run_id)
