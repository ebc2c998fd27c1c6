"""One run in the list of earlier runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ipywidgets as ipw

from workbench import catalog, units
from workbench.runs.listing import Unreadable
from workbench.widgets.kernel.page_order import keep_order
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import html, styled

if TYPE_CHECKING:
    from workbench.runs import Run
    from workbench.runs.summary import Summary

COLUMNS = ("State", "Run", "Model", "Strategy", "Loop", "Batch", "Test accuracy", "Duration")
NUMBERS = ("Batch", "Test accuracy", "Duration")


@dataclass(frozen=True)
class RowActions:
    """The actions that a person can ask for in a row."""

    opened: Callable[[Run], None]
    settings: Callable[[Run], None]
    selected: Callable[[], None]
    """Called when a check box changes."""


class Row:
    """The check box, the values and the buttons of a run."""

    def __init__(self, run: Run, actions: RowActions) -> None:
        self.run, self.title = run, run.title
        self.alive = True
        self._box = check_box(f"Select {self.title}", actions.selected)
        self._open = small("Open", f"Open {self.title}", lambda _: actions.opened(run))
        tip = f"Fill the form with the settings of {self.title}"
        self._settings = small("Use these settings", tip, lambda _: actions.settings(run))
        self._cells = html(description=f"Run {run.id}")
        keys = styled(ipw.Box, "wb-run-keys", children=[self._open, self._settings])
        parts = [self._box, self._cells, keys]
        self.box = styled(ipw.Box, "wb-run-row", children=parts)
        keep_order(self.box)

    @property
    def selected(self) -> bool:
        """Whether its check box is checked."""
        return bool(self._box.value)

    @selected.setter
    def selected(self, selected: bool) -> None:
        self._box.value = selected and not self._box.disabled

    def show(self, summary: Summary | Unreadable) -> None:
        """Show the run as it is now."""
        self.alive = summary.alive
        self._allow(not isinstance(summary, Unreadable))
        if isinstance(summary, Unreadable):
            text = f"{self.run.id} cannot be read: {summary.error}"
            self._cells.value = markup.quiet(text)
        else:
            self._cells.value = _cells(summary)

    def show_deleted(self) -> None:
        """Keep the place of a run whose folder was deleted."""
        self.alive = False
        self._allow(False)
        self._cells.value = markup.quiet(f"{self.title} was deleted.")

    def mark(self, is_open: bool) -> None:
        """Show whether the run is the opened one."""
        (self.box.add_class if is_open else self.box.remove_class)("wb-open-run")

    def _allow(self, allowed: bool) -> None:
        if not allowed:
            self._box.value = False
        for control in (self._box, self._open, self._settings):
            control.disabled = not allowed


def _cells(summary: Summary) -> str:
    plan = summary.plan
    labels = {
        field: markup.text(catalog.label_of(field, getattr(plan, field)))
        for field in ("model", "strategy", "data", "loop")
    }
    accuracy = summary.results["test_accuracy"]
    done = f"{summary.progress.step:,} steps"
    return line(
        [
            markup.pill(summary.status),
            f"<b>{markup.text(summary.title)}</b>{markup.quiet(summary.id)}",
            labels["model"] + markup.quiet(labels["data"]),
            labels["strategy"] + markup.quiet(plan.who_trains),
            labels["loop"],
            markup.text(f"{plan.examples_per_step:,}"),
            "not tested" if accuracy is None else units.percent(accuracy),
            markup.text(units.duration(summary.seconds)) + markup.quiet(done),
        ]
    )


def head(selected: Callable[[bool], None]) -> Any:
    """Return the line above the rows; `selected` is called when all rows are checked or not."""
    box = check_box("Select all listed runs", lambda: selected(box.value))
    names = line([f'<span class="wb-quiet">{name}</span>' for name in COLUMNS])
    parts = [box, html(names, description="Columns"), html(description="Actions")]
    return styled(ipw.Box, "wb-run-row", "wb-run-head-row", children=parts)


def line(cells: Sequence[str]) -> str:
    """Return cells of HTML side by side; narrow pages show the names of their columns."""
    spans = (
        f'<div class="{"wb-number" if name in NUMBERS else ""}">'
        f'<span class="wb-run-label">{name} </span>{cell}</div>'
        for name, cell in zip(COLUMNS, cells, strict=True)
    )
    return f'<div class="wb-run-cells">{"".join(spans)}</div>'


def check_box(label: str, changed: Callable[[], None]) -> Any:
    """Return a check box whose label only screen readers see."""
    box = styled(ipw.Checkbox, description=label, indent=False)
    box.observe(lambda _: changed(), "value")
    return box


def small(label: str, tip: str, clicked: Callable[[Any], None], *, visible: bool = True) -> Any:
    """Return a small button."""
    made = styled(ipw.Button, "wb-small", description=label, tooltip=tip, visible=visible)
    made.on_click(clicked)
    return made
