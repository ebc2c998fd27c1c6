"""The results of a comparison on the page: its advice, its table, its bars and its curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as ipw

from workbench.charts import Overlay
from workbench.charts.comparison import EACH_ITS_OWN, lines_of
from workbench.runs.records.cache import RunLines
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import button, column, html, row, set_visible, styled
from workbench.widgets.parts.table_heads import SORTED, TableHeads
from workbench.widgets.pictures import comparison as comparison_picture
from workbench.widgets.pictures.comparison import Line

from .arrangement import ALONG, MEASURES
from .choices import ComparisonChoices
from .colors import RowColors
from .report_button import ReportButton

if TYPE_CHECKING:
    from workbench.points import Lines
    from workbench.runs import Run

    from .snapshot import Snapshot


class Results:
    """What was read, with the person's choices. It shows nothing before the first reading."""

    def __init__(
        self,
        runs_dir: str | Path | None,
        changed: Callable[[], None],
        open_run: Callable[[Run], None],
    ) -> None:
        """`changed` is called at each choice; `open_run` shows a run."""
        self._changed, self._open_run = changed, open_run
        self._snapshot: Snapshot | None = None
        self._lines: dict[Path, RunLines] = {}
        self.choices = ComparisonChoices(changed)
        self._open = button("Open the recommended run", "Its script is in the tab Script",
                             self._on_open)  # fmt: skip
        self._advice = html(description="Recommendation")
        self._table = html(description="Comparison table")
        heads = TableHeads(self.choices.click)
        table = styled(ipw.VBox, SORTED, children=[self._table, heads])
        self._bars = html(description="Speeds")
        self._curves = html(description="Curves")
        self._colors_place = column()
        self._report = ReportButton(runs_dir, lambda: self._snapshot)
        self.box = styled(
            ipw.VBox,
            "wb-spaced",
            visible=False,
            children=[
                *(row(self._open, self._advice), self.choices.of_rows, table, self._bars),
                *(self.choices.of_curves, self._curves, self._colors_place, self._report.box),
            ],
        )

    @cached_property
    def _colors(self) -> RowColors:
        """The colours of the rows, made only when there are rows.

        A page that opens has little time to make its first widgets.
        """
        made = RowColors(self._changed)
        self._colors_place.children = [made]
        return made

    def follow(self, folder: Path) -> None:
        """Show the comparison in this folder from the next reading on."""
        self._lines = {}
        self._colors.follow(folder)

    def close(self) -> None:
        """Stop work in progress."""
        self._report.close()

    def show(self, snapshot: Snapshot | None) -> None:
        """Show what was read; None shows nothing."""
        self._snapshot = snapshot
        if snapshot is not None:
            self._draw(snapshot)
        set_visible(self._open, visible=snapshot is not None and snapshot.advice.group is not None)
        set_visible(self.box, visible=snapshot is not None)

    def _on_open(self, _: Any) -> None:
        snapshot = self._snapshot
        if snapshot is not None and snapshot.advice.group is not None:
            self._open_run(snapshot.groups[snapshot.advice.group].runs[0])

    def _draw(self, snapshot: Snapshot) -> None:
        labels = [group.label for group in snapshot.groups]
        self.choices.offer(labels)
        shown = self.choices.arrange(snapshot.table)
        colors = self._colors.chosen
        self._advice.value = markup.quiet(snapshot.advice.sentence)
        heads = self.choices.order.heads
        self._table.value = comparison_picture.table(
            snapshot.table, snapshot.states, shown, snapshot.due, heads
        )
        self._bars.value = comparison_picture.bars(snapshot.table, shown, colors)
        rows = [(at, labels[at]) for at in sorted(shown) if snapshot.groups[at].runs]
        self._colors.show(rows)
        set_visible(self._colors_place, visible=bool(rows))
        self._curves.value = self._draw_curves(snapshot, shown, colors)

    def _draw_curves(
        self, snapshot: Snapshot, shown: Sequence[int], colors: Mapping[str, str]
    ) -> str:
        measure, along = self.choices.measure.value, self.choices.along.value
        groups = [(at, snapshot.groups[at]) for at in sorted(shown) if snapshot.groups[at].runs]
        overlays = [Overlay(group.label, self._lines_of(group.runs[-1])) for _, group in groups]
        lines = [
            Line(name, at, getattr(run.lines, along), y, colors.get(run.label, ""))
            for (at, _), run in zip(groups, overlays, strict=True)
            for name, y in lines_of(run, measure)
        ]
        drawn = comparison_picture.curves(lines, MEASURES[measure], ALONG[along])
        apart = any(not run.lines.synchronous for run in overlays)
        return drawn + (markup.quiet(EACH_ITS_OWN) if drawn and apart else "")

    def _lines_of(self, run: Run) -> Lines:
        """Return the lines of a run; only its new records are read."""
        if run.dir not in self._lines:
            self._lines[run.dir] = RunLines(run.dir, run.plan)
        return self._lines[run.dir].read()
