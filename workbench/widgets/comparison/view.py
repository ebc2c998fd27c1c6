"""Which strategy, which batch? The page that trains candidates in turn, with live results."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as ipw

from workbench.charts import Overlay
from workbench.charts.comparison import EACH_ITS_OWN, lines_of
from workbench.config import ConfigError
from workbench.experiments import Comparison, candidates, list_comparisons, start_comparison
from workbench.experiments.comparing.tournament import DROP_BELOW
from workbench.runs.records.live import LiveRun
from workbench.widgets.kernel.background import Latest, run_in_background
from workbench.widgets.kernel.poller import Poller
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import (
    button,
    column,
    html,
    row,
    section,
    set_visible,
    styled,
)
from workbench.widgets.pictures import comparison as comparison_picture
from workbench.widgets.pictures.comparison import Line

from .choices import ALONG, MEASURES, ComparisonChoices
from .colors import RowColors
from .earlier_runs import EarlierRuns
from .form import Asked, ComparisonForm
from .look import Seen, look_at

if TYPE_CHECKING:
    from workbench.config import RunConfig
    from workbench.devices import Devices
    from workbench.points import Points
    from workbench.runs import Run

ABOUT = (
    "Trains the form's config in every combination of the choices below, one run after another, "
    "and compares the speeds. The comparison continues when this page is closed."
)
GOING_ON = ("running", "stopping")
LOOK_SECONDS = 1.0
SETTLE_SECONDS = 0.1
"""The wait after a choice, so that typing does not draw everything again at each key."""


class ComparisonView:
    """A view that starts, follows, stops and resumes comparisons. It shows the newest one."""

    def __init__(
        self,
        runs_dir: str | Path | None,
        config: Callable[[], RunConfig],
        devices: Callable[[], Devices],
        open_run: Callable[[Run], None],
    ) -> None:
        self._runs_dir, self._config, self._devices = runs_dir, config, devices
        self._open_run = open_run
        self._comparison: Comparison | None = None
        self._seen: Seen | None = None
        self._poller: Poller | None = None
        self._lives: dict[Path, LiveRun] = {}
        self._looking = threading.Lock()
        """A lock held during each look and while the view changes to another comparison.

        A choice of the person asks for a look too.
        """
        self._choosing: Latest[float] = Latest(SETTLE_SECONDS)
        self._form = ComparisonForm()
        self._start = button("Compare", "Train all combinations, one after another", self._on_start)
        self._stop = button(
            "Stop the comparison", "Stop the current run, with a checkpoint", self._on_stop
        )
        self._resume = button(
            "Resume the comparison", "Continue where the comparison was stopped", self._on_resume
        )
        self._open = button("Open the recommended run", "Its script is in the tab Script",
                             self._on_open)  # fmt: skip
        self._progress = html(description="Progress of the comparison")
        self._advice = html(description="Recommendation")
        self._table = html(description="Comparison table")
        self._bars = html(description="Speeds")
        self._curves = html(description="Curves")
        self._choices = ComparisonChoices(self._on_choice)
        self._colors_place = column()
        self._earlier = EarlierRuns(runs_dir, self._on_choice)
        self.box = self._lay_out()
        self._show_buttons()
        run_in_background(lambda: list_comparisons(runs_dir), self._show_newest, self._failed)

    @cached_property
    def _colors(self) -> RowColors:
        """The colours of the rows, made only when there are rows.

        A page that opens has little time to make its first widgets.
        """
        made = RowColors(self._on_choice)
        self._colors_place.children = [made]
        return made

    def close(self) -> None:
        """Stop looking; the comparison goes on."""
        if self._poller is not None:
            self._poller.stop()

    def _lay_out(self) -> Any:
        buttons = row(self._start, self._stop, self._resume, self._progress)
        advice = row(self._open, self._advice)
        self._rows_box = styled(
            ipw.VBox,
            "wb-spaced",
            children=[
                *(advice, self._choices.of_rows, self._table, self._bars),
                *(self._choices.of_curves, self._curves, self._colors_place),
            ],
        )
        parts = (self._form.box, buttons, self._earlier.box, self._rows_box)
        return section("Which strategy, which batch?", ABOUT, *parts, css_class="wb-compare")

    def _on_start(self, _: Any) -> None:
        asked = self._form.read(self._config())
        if asked is None:
            return
        self._progress.value = markup.quiet("Starting ...")
        self._start.disabled = True
        run_in_background(lambda: self._begin(asked), self._follow, self._failed)

    def _begin(self, asked: Asked) -> Comparison:
        devices = self._devices()
        several = [name for name, values in asked.axes.items() if len(values) > 1]
        return start_comparison(
            candidates(asked.config, asked.axes, devices),
            devices,
            self._runs_dir,
            repeats=asked.repeats,
            budget_seconds=asked.budget_seconds,
            target_accuracy=asked.target_accuracy,
            drop_below=DROP_BELOW if several == ["strategy"] else 0.0,
        )

    def _on_stop(self, _: Any) -> None:
        if self._comparison is not None:
            self._comparison.stop()
            self._stop.disabled = True
            self._progress.value = markup.quiet(
                "Stopping; the current run saves a checkpoint and ends."
            )

    def _on_resume(self, _: Any) -> None:
        comparison = self._comparison
        if comparison is None:
            return
        self._resume.disabled = True

        def resume() -> Comparison:
            comparison.resume()
            return comparison

        run_in_background(resume, self._follow, self._failed)

    def _on_open(self, _: Any) -> None:
        seen = self._seen
        if seen is not None and seen.advice.group is not None:
            self._open_run(seen.groups[seen.advice.group].runs[0])

    def _on_choice(self) -> None:
        self._choosing.ask(self._look, lambda _: None, self._failed)

    def _show_newest(self, found: list[Comparison]) -> None:
        if found and self._comparison is None:
            self._follow(found[0])

    def _follow(self, comparison: Comparison) -> None:
        """Show a comparison, and follow it while it runs."""
        with self._looking:
            self.close()
            self._comparison, self._lives = comparison, {}
            self._colors.follow(comparison.folder)
            self._poller = Poller(self._look, self._failed)

    def _look(self) -> float:
        with self._looking:
            comparison, earlier = self._comparison, self._earlier.chosen
            if comparison is not None or earlier:
                self._seen = look_at(comparison, earlier, self._choices.baseline.value, self._seen)
                self._show(self._seen)
            elif self._seen is not None:
                self._seen, self._progress.value = None, ""
            self._show_buttons()
            if self._seen is None or self._seen.state not in GOING_ON:
                self.close()
        return LOOK_SECONDS

    def _show(self, seen: Seen) -> None:
        labels = [group.label for group in seen.groups]
        self._choices.offer(labels)
        shown = self._choices.arrange(seen.table)
        colors = self._colors.chosen
        self._progress.value = markup.quiet(seen.progress)
        self._advice.value = markup.quiet(seen.advice.sentence)
        self._table.value = comparison_picture.table(seen.table, seen.states, shown)
        self._bars.value = comparison_picture.bars(seen.table, shown, colors)
        rows = [(at, labels[at]) for at in sorted(shown) if seen.groups[at].runs]
        self._colors.show(rows)
        set_visible(self._colors_place, visible=bool(rows))
        self._curves.value = self._draw_curves(seen, shown, colors)

    def _draw_curves(self, seen: Seen, shown: Sequence[int], colors: Mapping[str, str]) -> str:
        measure, along = self._choices.measure.value, self._choices.along.value
        groups = [(at, seen.groups[at]) for at in sorted(shown) if seen.groups[at].runs]
        overlays = [Overlay(group.label, self._points_of(group.runs[-1])) for _, group in groups]
        lines = [
            Line(name, at, getattr(run.points, along), y, colors.get(run.label, ""))
            for (at, _), run in zip(groups, overlays, strict=True)
            for name, y in lines_of(run, measure)
        ]
        drawn = comparison_picture.curves(lines, MEASURES[measure], ALONG[along])
        apart = any(not run.points.synchronous for run in overlays)
        return drawn + (markup.quiet(EACH_ITS_OWN) if drawn and apart else "")

    def _points_of(self, run: Run) -> Points:
        """Return the curves of a run; only its new records are read."""
        if run.dir not in self._lives:
            self._lives[run.dir] = LiveRun(run.dir, run.plan)
        self._lives[run.dir].poll()
        return self._lives[run.dir].points()

    def _show_buttons(self) -> None:
        state = self._seen.state if self._seen else None
        recommended = self._seen is not None and self._seen.advice.group is not None
        alive = state in GOING_ON
        set_visible(self._stop, visible=alive)
        set_visible(self._resume, visible=state in ("stopped", "lost"))
        set_visible(self._open, visible=recommended)
        set_visible(self._rows_box, visible=self._seen is not None)
        self._start.disabled = alive
        self._stop.disabled = state == "stopping"
        self._resume.disabled = False

    def _failed(self, error: Exception) -> None:
        self._show_buttons()
        problems = error.problems if isinstance(error, ConfigError) else [error]
        self._progress.value = "".join(markup.notice("error", str(each)) for each in problems)
