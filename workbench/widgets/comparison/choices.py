"""The choices for viewing a comparison: the baseline, the order, the rows and the curves."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import ipywidgets as ipw

from workbench.widgets.form.fields import text_box
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import ANY_WIDTH, button, html, row, styled

from .arrangement import ALONG, MEASURES, Arrangement
from .snapshot import FIRST
from .sorting import SORTS, Order

if TYPE_CHECKING:
    from workbench.experiments import Table

AGAINST_FIRST = ("first measured row", FIRST)


class ComparisonChoices:
    """Controls that apply to the table, the bars and the curves."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._writing = False
        self._against = FIRST
        """The chosen baseline. It stays chosen while its row is not there."""
        self.baseline = _choice("Baseline", [AGAINST_FIRST])
        self.sort = _choice("Sort by", [("as listed", ""), *((name, name) for name in SORTS)])
        self._turned = False
        self.turn = button("", "Reverse the order", self._on_turn)
        self.turn.add_class("wb-turn")
        self._show_order(Order())
        self.only = text_box("Show only", placeholder="part of a name")
        self.measure = _choice("Curves of", [(name, key) for key, name in MEASURES.items()])
        self.along = _choice("X axis of the curves", [(name, key) for key, name in ALONG.items()])
        self._rows_shown = html(description="How many rows are shown")
        of_rows, of_curves = (self.baseline, self.sort, self.only), (self.measure, self.along)
        for control in (*of_rows, *of_curves):
            control.observe(self._on_choice, "value")
        sorting = styled(ipw.Box, "wb-sorting", children=[self.sort, self.turn])
        self.of_rows = row(self.baseline, sorting, self.only, self._rows_shown)
        self.of_curves = row(*of_curves)

    @property
    def order(self) -> Order:
        """The chosen order of the rows."""
        return Order(self.sort.value, self._turned)

    def click(self, sort: str) -> None:
        """Order the rows as a click on the head of a column asks; see `Order.after_click`."""
        self._show_order(self.order.after_click(sort))
        self._changed()

    @property
    def arrangement(self) -> Arrangement:
        """The present choices, without the added runs."""
        return Arrangement(
            baseline=self._against,
            sort=self.order.sort,
            turned=self.order.turned,
            only=self.only.value,
            measure=self.measure.value,
            along=self.along.value,
        )

    def restore(self, kept: Arrangement) -> None:
        """Make the choices of an arrangement. The baseline is offered once its row is known."""
        self._show_order(Order(kept.sort, turned=kept.turned and kept.sort != ""))
        with self._written():
            self._against = kept.baseline
            self.baseline.options, self.baseline.value = [AGAINST_FIRST], FIRST
            self.only.value = kept.only
            self.measure.value, self.along.value = kept.measure, kept.along

    def offer(self, labels: Sequence[str]) -> None:
        """Offer these rows as baselines, and select the chosen one if it is among them."""
        options = [AGAINST_FIRST, *((label, label) for label in labels)]
        if options == list(self.baseline.options):
            return
        with self._written():
            self.baseline.options = options
            self.baseline.value = self._against if self._against in labels else FIRST

    def arrange(self, table: Table) -> list[int]:
        """Return the numbers of the rows to show, in their order, and show how many they are.

        The baseline is always among them, because the other rows are compared with it.
        """
        wanted = self.only.value.strip().casefold()
        rows = range(len(table.rows))
        found = [at for at in rows if wanted in table.rows[at].label.casefold()]
        there = [at for at in rows if at in found or at == table.baseline]
        shown = self.order.of(table, there)
        pinned = ", and the baseline" if len(shown) > len(found) else ""
        text = f"{len(found)} of {len(rows)} shown{pinned}"
        self._rows_shown.value = markup.quiet(text) if wanted else ""
        return shown

    def _on_turn(self, _: Any) -> None:
        self._show_order(replace(self.order, turned=not self._turned))
        self._changed()

    def _show_order(self, order: Order) -> None:
        """Show an order in both controls; rows as listed cannot be turned."""
        with self._written():
            self.sort.value, self._turned = order.sort, order.turned
        self.turn.description = f"{order.ends[order.turned]} on top"
        self.turn.disabled = not order.sort

    @contextlib.contextmanager
    def _written(self) -> Iterator[None]:
        """Write controls without a report of their changes: nobody chose anything."""
        self._writing = True
        try:
            yield
        finally:
            self._writing = False

    def _on_choice(self, change: Any) -> None:
        if self._writing:
            return
        if change["owner"] is self.baseline:
            self._against = self.baseline.value
        elif change["owner"] is self.sort:
            self._show_order(Order(self.sort.value))
        self._changed()


def _choice(label: str, options: list[tuple[str, Any]]) -> Any:
    return styled(ipw.Dropdown, options=options, description=label, style=ANY_WIDTH)
