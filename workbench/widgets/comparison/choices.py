"""The choices for viewing a comparison: the baseline, the order, the rows and the curves."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import ipywidgets as ipw

from workbench.widgets.form.fields import text_box
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import ANY_WIDTH, button, html, row, styled

from .arrangement import ALONG, MEASURES, Arrangement
from .look import FIRST
from .sorting import SORTS, in_order

if TYPE_CHECKING:
    from workbench.experiments import Table

AGAINST_FIRST = ("the first row with a speed", FIRST)


class ComparisonChoices:
    """Controls that apply to the table, the bars and the curves."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._writing = False
        self._against = FIRST
        """The chosen baseline. It stays chosen while its row is not there."""
        self.baseline = _choice("Against", [AGAINST_FIRST])
        self.sort = _choice("Sorted by", [("as listed", ""), *((name, name) for name in SORTS)])
        self._turned = False
        self.turn = button("", "Turn the order", self._on_turn)
        self.turn.add_class("wb-turn")
        self._show_turned()
        self.only = text_box("Show only", placeholder="part of a name")
        self.measure = _choice("Curves of", [(name, key) for key, name in MEASURES.items()])
        self.along = _choice("Curves along", [(name, key) for key, name in ALONG.items()])
        self._rows_shown = html(description="How many rows are shown")
        of_rows, of_curves = (self.baseline, self.sort, self.only), (self.measure, self.along)
        for control in (*of_rows, *of_curves):
            control.observe(self._on_choice, "value")
        sorting = styled(ipw.Box, "wb-sorting", children=[self.sort, self.turn])
        self.of_rows = row(self.baseline, sorting, self.only, self._rows_shown)
        self.of_curves = row(*of_curves)

    @property
    def arrangement(self) -> Arrangement:
        """The present choices, without the added runs."""
        return Arrangement(
            baseline=self._against,
            sort=self.sort.value,
            turned=self._turned,
            only=self.only.value,
            measure=self.measure.value,
            along=self.along.value,
        )

    def restore(self, kept: Arrangement) -> None:
        """Make the choices of an arrangement. The baseline is offered once its row is known."""
        with self._written():
            self._against = kept.baseline
            self.baseline.options, self.baseline.value = [AGAINST_FIRST], FIRST
            self.sort.value, self.only.value = kept.sort, kept.only
            self._turned = kept.turned
            self._show_turned()
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
        shown = in_order(table, there, self.sort.value, turned=self._turned)
        pinned = ", and the baseline" if len(shown) > len(found) else ""
        text = f"{len(found)} of {len(rows)} shown{pinned}"
        self._rows_shown.value = markup.quiet(text) if wanted else ""
        return shown

    def _on_turn(self, _: Any) -> None:
        self._turned = not self._turned
        self._show_turned()
        self._changed()

    def _show_turned(self) -> None:
        first, last = ("best", "worst") if self.sort.value else ("first", "last")
        self.turn.description = f"{last if self._turned else first} on top"

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
        self._show_turned()
        self._changed()


def _choice(label: str, options: list[tuple[str, Any]]) -> Any:
    return styled(ipw.Dropdown, options=options, description=label, style=ANY_WIDTH)
