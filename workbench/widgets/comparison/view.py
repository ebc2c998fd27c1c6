"""Which strategy, which batch size? The page that trains candidates in turn, with live results."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.config import ConfigError
from workbench.experiments import (
    Comparison,
    UnreadableComparison,
    candidates,
    list_comparisons,
    start_comparison,
)
from workbench.experiments.comparing.advice import more_repeats
from workbench.experiments.queueing.tournament import DROP_BELOW
from workbench.widgets.kernel.background import Latest, run_in_background
from workbench.widgets.kernel.poller import Poller
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import button, html, row, section, set_visible

from .arrangement import Arrangement, KeptArrangement, folders_of, kept_form
from .earlier_comparisons import EarlierComparisons
from .earlier_runs import EarlierRuns
from .form import Asked, ComparisonForm
from .losses import LossDifferences
from .origin import refuse_foreign
from .results import Results
from .snapshot import GOING_ON, Snapshot, snapshot_of

if TYPE_CHECKING:
    from workbench.config import RunConfig
    from workbench.devices import Devices
    from workbench.experiments import Table
    from workbench.runs import Run

ABOUT = (
    "Trains the form's config in every combination of the choices below, one run after another, "
    "and compares the speeds. The comparison continues when this page is closed."
)
POLL_SECONDS = 1.0
SETTLE_SECONDS = 0.1
"""The wait after a choice, so that typing does not draw everything again at each key."""


class ComparisonView:
    """A view that starts, opens, follows, stops and resumes comparisons; first the newest one."""

    def __init__(
        self,
        runs_dir: str | Path | None,
        config: Callable[[], RunConfig],
        devices: Callable[[], Devices],
        open_run: Callable[[Run], None],
    ) -> None:
        self._runs_dir, self._config, self._devices = runs_dir, config, devices
        self._comparison: Comparison | None = None
        self._snapshot: Snapshot | None = None
        self._poller: Poller | None = None
        self._looking = threading.Lock()
        """A lock held during each reading and while the view changes to another comparison.

        A choice of the person asks for a reading too.
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
        self._repeat = button(
            "", "Train more runs, until the intervals show which is faster", self._on_repeat
        )
        self._progress = html(description="Progress of the comparison")
        self._kept_note = html(description="Whether this view is saved")
        self._kept = KeptArrangement(self._say_kept)
        self._results = Results(runs_dir, self._on_choice, open_run)
        self._losses = LossDifferences(self._take_losses, self._losses_failed)
        self._earlier = EarlierRuns(runs_dir, self._on_choice)
        self._others = EarlierComparisons(runs_dir, self._on_open)
        buttons = row(self._start, self._stop, self._resume, self._repeat, self._progress)
        parts = (self._form.box, buttons, self._others.box, self._earlier.box, self._kept_note)
        self.box = section(
            "Which strategy, which batch size?", ABOUT, *parts, self._results.box,
            css_class="wb-compare",
        )  # fmt: skip
        self._show_buttons()
        run_in_background(lambda: list_comparisons(runs_dir), self._show_newest, self._failed)

    def close(self) -> None:
        """Stop looking and timing; the comparison goes on."""
        self._results.close()
        self._losses.close()
        self._stop_looking()

    def _stop_looking(self) -> None:
        if self._poller is not None:
            self._poller.stop()

    def look_again(self) -> None:
        """Show what other tabs changed meanwhile, such as a measured noise scale."""
        self._choosing.ask(self._poll, self._follow_added, self._failed)

    @property
    def _arrangement(self) -> Arrangement:
        """The present choices; without a comparison no run is kept as added."""
        chosen, comparison = self._results.choices.arrangement, self._comparison
        if comparison is None:
            return chosen
        folders = [run.dir for run in self._earlier.chosen]
        return replace(chosen, added=kept_form(folders, comparison.folder))

    def _on_start(self, _: Any) -> None:
        asked = self._form.read(self._config())
        if asked is None:
            return
        self._progress.value = markup.quiet("Starting ...")
        self._start.disabled = True
        run_in_background(lambda: self._begin(asked), self._follow_with_choices, self._failed)

    def _begin(self, asked: Asked) -> Comparison:
        devices = self._devices()
        several = [name for name, values in asked.axes.items() if len(values) > 1]
        return start_comparison(
            candidates(asked.config, asked.axes, devices, asked.shared),
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
        self._go_on(Comparison.resume)

    def _on_repeat(self, _: Any) -> None:
        self._go_on(lambda each: each.repeat(more_repeats(each.request.repeats)))

    def _go_on(self, begin: Callable[[Comparison], None]) -> None:
        """Let the queue of the shown comparison begin again, if it is not someone else's."""
        comparison = self._comparison
        if comparison is None:
            return
        self._resume.disabled = self._repeat.disabled = True

        def go_on() -> Comparison:
            refuse_foreign(comparison)
            begin(comparison)
            return comparison

        run_in_background(go_on, self._follow_with_choices, self._failed)

    def _on_open(self, comparison: Comparison) -> None:
        run_in_background(lambda: comparison, self._follow, self._failed)

    def _on_choice(self) -> None:
        if self._comparison is not None:
            self._kept.keep(self._arrangement)
        self.look_again()

    def _show_newest(self, found: list[Comparison]) -> None:
        unreadable = [each for each in found if isinstance(each, UnreadableComparison)]
        self._others.warn(unreadable)
        newest = next((each for each in found if each not in unreadable), None)
        if newest and self._comparison is None and not self._earlier.chosen:
            self._follow(newest)

    def _follow(self, comparison: Comparison) -> None:
        """Show a comparison as a person left it, and follow it while it runs."""
        with self._looking:
            self._stop_looking()
            self._comparison = comparison
            kept = self._kept.follow(comparison.folder, None)
            self._results.choices.restore(kept)
            self._earlier.restore(folders_of(kept.added, comparison.folder))
            self._show_first(comparison)

    def _follow_with_choices(self, comparison: Comparison) -> None:
        """Show a comparison with the present choices and added runs, and follow it."""
        with self._looking:
            self._stop_looking()
            self._comparison = comparison
            self._kept.follow(comparison.folder, self._arrangement)
            self._show_first(comparison)

    def _show_first(self, comparison: Comparison) -> None:
        self._results.follow(comparison.folder)
        self._others.mark(comparison.folder)
        self._poller = Poller(self._poll, self._failed)

    def _follow_added(self, _: float) -> None:
        """Follow the rows if nothing follows them yet: an added run may go on."""
        with self._looking:
            follows = self._poller is not None and not self._poller.over
            if not follows and self._snapshot is not None and self._snapshot.goes_on:
                self._poller = Poller(self._poll, self._failed)

    def _poll(self) -> float:
        with self._looking:
            comparison, earlier = self._comparison, self._earlier.chosen
            if comparison is not None or earlier:
                baseline = self._results.choices.arrangement.baseline
                self._snapshot = snapshot_of(comparison, earlier, baseline, self._snapshot)
                self._progress.value = markup.quiet(self._snapshot.progress)
            elif self._snapshot is not None:
                self._snapshot, self._progress.value = None, ""
            self._results.show(self._snapshot)
            self._losses.follow(self._snapshot)
            self._show_buttons()
            if self._snapshot is None or not self._snapshot.goes_on:
                self._stop_looking()
        return POLL_SECONDS

    def _take_losses(self, table: Table, found: Table) -> bool:
        """Show a table with its loss differences; return False if it is not shown any more."""
        with self._looking:
            if self._snapshot is None or self._snapshot.table is not table:
                return False
            self._snapshot = replace(self._snapshot, table=found, due=[False] * len(found.rows))
            self._results.show(self._snapshot)
            return True

    def _losses_failed(self, table: Table, error: Exception) -> None:
        if self._take_losses(table, table):
            self._failed(error)

    def _show_buttons(self) -> None:
        state, comparison = self._snapshot.state if self._snapshot else None, self._comparison
        alive = state in GOING_ON
        set_visible(self._stop, visible=alive)
        set_visible(self._resume, visible=state in ("stopped", "lost"))
        undecided = self._snapshot is not None and self._snapshot.advice.undecided
        repeatable = comparison is not None and undecided and comparison.repeatable
        set_visible(self._repeat, visible=repeatable)
        if comparison is not None and repeatable:
            repeats = comparison.request.repeats
            more = more_repeats(repeats) - repeats
            self._repeat.description = f"Run {more} more of each"
        self._start.disabled = alive
        self._stop.disabled = state == "stopping"
        self._resume.disabled = self._repeat.disabled = False

    def _say_kept(self, note: str) -> None:
        self._kept_note.value = markup.notice("warning", note) if note else ""

    def _failed(self, error: Exception) -> None:
        self._show_buttons()
        problems = error.problems if isinstance(error, ConfigError) else [error]
        self._progress.value = "".join(markup.notice("error", str(each)) for each in problems)
