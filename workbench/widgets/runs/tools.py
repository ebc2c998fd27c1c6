"""The tools above the list of earlier runs: search, order, deletion, and a line of text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as ipw

from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import button, html, set_visible, styled

from .row import small
from .search import NEWEST, ORDERS

Action = Callable[[], None]
ORDER_LABELS = {
    NEWEST: "Newest first",
    "test accuracy": "Highest test accuracy first",
    "duration": "Longest duration first",
    "examples per second": "Most examples per second first",
}


class Tools:
    """A search field, a choice of the order, and buttons.

    The line below them is always there, so that a text in it moves no row.
    """

    def __init__(self, arranged: Action, delete: Action, show_new: Action) -> None:
        """`arranged` is called when the words or the order change."""
        self._search = styled(
            ipw.Text,
            "wb-runs-search",
            description="Search",
            placeholder="words of title, id, model, strategy, data or state",
        )
        options = [(ORDER_LABELS[order], order) for order in (NEWEST, *ORDERS)]
        self._order = styled(ipw.Dropdown, description="Order", options=options)
        for control in (self._search, self._order):
            control.observe(lambda _: arranged(), "value")
        self._delete = button(
            "Delete selected ...",
            "Delete the selected runs; you are asked first",
            lambda _: delete(),
        )
        self._delete.disabled = True
        self._count = html(description="Number of runs")
        self._report = html(description="Report of the last action")
        self._new = small(
            "Show new runs", "List the new runs at the top", lambda _: show_new(), visible=False
        )
        fields = [_field(self._search), _field(self._order)]
        tools = [*fields, self._delete]
        state = [self._count, self._new, self._report]
        self.box = styled(
            ipw.VBox,
            children=[
                styled(ipw.Box, "wb-save", "wb-runs-tools", children=tools),
                styled(ipw.Box, "wb-row", "wb-runs-state", children=state),
            ],
        )

    @property
    def text(self) -> str:
        """The words that are searched."""
        return str(self._search.value)

    @property
    def order(self) -> str:
        """The chosen order."""
        return str(self._order.value)

    def count(self, text: str) -> None:
        """Show how many runs there are."""
        self._count.value = f'<span class="wb-quiet" role="status">{markup.text(text)}</span>'

    def report(self, level: str, text: str) -> None:
        """Show the result of an action; `level` is info or error."""
        line = f'<span role="status">{markup.text(text)}</span>'
        self._report.value = line if level == "info" else markup.notice("error", text)

    def allow_delete(self, count: int) -> None:
        """Offer to delete so many runs."""
        self._delete.description = (
            f"Delete {count} selected ..." if count else "Delete selected ..."
        )
        self._delete.disabled = count == 0

    def offer_new(self, count: int) -> None:
        """Offer to show so many new runs."""
        self._new.description = "Show 1 new run" if count == 1 else f"Show {count} new runs"
        set_visible(self._new, visible=count > 0)


def _field(control: Any) -> Any:
    return styled(ipw.VBox, "wb-field", children=[control])
