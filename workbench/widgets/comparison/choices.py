"""The choices for viewing a comparison: the baseline, the order, the rows and the curves."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import ipywidgets as ipw

from workbench.widgets.form.fields import text_box
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import ANY_WIDTH, html, row, styled

from .look import FIRST

if TYPE_CHECKING:
    from workbench.experiments import Row, Table

AGAINST_FIRST = ("the first row with a speed", FIRST)
SORTS: Mapping[str, Callable[[Row], float]] = {
    "speed": lambda row: -(row.examples_per_second or 0.0),
    "loss": lambda row: _last(row.loss),
    "test loss": lambda row: _last(row.test_loss),
    "accuracy": lambda row: -(row.last_accuracy or 0.0),
    "time to the target": lambda row: _last(row.target_seconds),
    "memory": lambda row: _last(row.peak_host_bytes),
}
MEASURES = {"loss": "Loss", "accuracy": "Accuracy", "rate": "Examples per second"}
ALONG = {"step": "steps", "examples": "examples seen", "training_seconds": "seconds of training"}


class ComparisonChoices:
    """Controls that apply to the table, the bars and the curves."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._offering = False
        self.baseline = _choice("Against", [AGAINST_FIRST])
        self.sort = _choice("Sorted by", [("as listed", ""), *((name, name) for name in SORTS)])
        self.only = text_box("Show only", placeholder="part of a name")
        self.measure = _choice("Curves of", [(name, key) for key, name in MEASURES.items()])
        self.along = _choice("Curves along", [(name, key) for key, name in ALONG.items()])
        self._rows_shown = html(description="How many rows are shown")
        of_rows, of_curves = (self.baseline, self.sort, self.only), (self.measure, self.along)
        for control in (*of_rows, *of_curves):
            control.observe(self._on_choice, "value")
        self.of_rows = row(*of_rows, self._rows_shown)
        self.of_curves = row(*of_curves)

    def offer(self, labels: Sequence[str]) -> None:
        """Offer these rows as baselines. The chosen baseline stays if it is among them."""
        options = [AGAINST_FIRST, *((label, label) for label in labels)]
        if options == list(self.baseline.options):
            return
        chosen = self.baseline.value
        self._offering = True
        try:
            self.baseline.options = options
            self.baseline.value = chosen if chosen in labels else FIRST
        finally:
            self._offering = False

    def arrange(self, table: Table) -> list[int]:
        """Return the numbers of the rows to show, in their order, and show how many they are.

        The baseline is always among them, because the other rows are compared with it.
        """
        wanted = self.only.value.strip().casefold()
        rows = range(len(table.rows))
        found = [at for at in rows if wanted in table.rows[at].label.casefold()]
        shown = [at for at in rows if at in found or at == table.baseline]
        if self.sort.value:
            shown.sort(key=lambda at: SORTS[self.sort.value](table.rows[at]))
        pinned = ", and the baseline" if len(shown) > len(found) else ""
        text = f"{len(found)} of {len(rows)} shown{pinned}"
        self._rows_shown.value = markup.quiet(text) if wanted else ""
        return shown

    def _on_choice(self, _: Any) -> None:
        if not self._offering:
            self._changed()


def _last(value: float | None) -> float:
    return math.inf if value is None else value


def _choice(label: str, options: list[tuple[str, Any]]) -> Any:
    return styled(ipw.Dropdown, options=options, description=label, style=ANY_WIDTH)
