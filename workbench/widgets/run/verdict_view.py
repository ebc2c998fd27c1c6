"""The page "Why is it slow?": the times within the opened run's step, and one suggested change.

The effect of the suggested change can be measured too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench import units
from workbench.runs import RunError
from workbench.runs.consent import foreign_settings
from workbench.runs.folder.state import LIVE
from workbench.verdict import (
    SECONDS,
    Trial,
    Verdict,
    WorkerSpeed,
    judge,
    saved_verdict,
    try_out,
    worker_speeds,
)
from workbench.widgets.form.fields import NumberField
from workbench.widgets.form.layout import grid
from workbench.widgets.parts import markup
from workbench.widgets.parts.agreeing import Agreeing
from workbench.widgets.parts.long_work import LongWork
from workbench.widgets.parts.page_parts import button, html, row, section, set_visible
from workbench.widgets.pictures import verdict as verdict_picture

if TYPE_CHECKING:
    from workbench.config import RunConfig
    from workbench.runs import Run

ABOUT = (
    "Measures the time of the run's step, and of the same step without some of its parts, in "
    "separate processes. Shows what takes the time and suggests one change. The run is not changed."
)
STILL_TRAINS = (
    "The step can be timed after the run has ended: timing and training slow each other down."
)
OWN_PACES = (
    "The workers do not wait for each other: the page shows the recorded speed of each worker."
)
KEPT, AGAIN = "Measured before.", "Click Find out to measure again."
SAME_CONFIG = "The form holds this run's config with"


class WhySlow:
    """A page that measures on request. Its suggestion can be tried, or put into the form."""

    def __init__(self, write: Callable[[RunConfig], None], label_of: Callable[[str], str]) -> None:
        """`write` fills the form; `label_of` returns the form's label of a config field."""
        self._write, self._label_of = write, label_of
        self._run: Run | None = None
        self._together = True
        self._over = False
        self._verdict: Verdict | None = None
        self._work = LongWork("timing the step", lambda busy: self._show_buttons(busy=busy))
        self._agreeing = Agreeing(self._work.report)
        self._seconds = NumberField("verdict_seconds", "Seconds of timing", whole=False)
        self._seconds.write(SECONDS)
        self._seconds.show_help("A longer timing detects smaller parts.")
        self._find = button("Find out", "Time the run's step and its parts", self._on_find)
        self._again = button(
            "Measure again", "Time the run's step and its parts once more", self._on_again
        )
        self._try = button(
            "Try it",
            "Train a short run with the suggestion, and time both runs in turn",
            self._on_try,
        )
        self._put = button(
            "Put it into the form", "Fill the form with this run's config and the suggestion",
            self._on_put,
        )  # fmt: skip
        self._found = html(description="Parts of a step's time")
        self._suggested = html(description="Suggestion")
        self._tried = html(description="Result of the suggestion")
        self._form_note = html(description="Config in the form")
        self.box = section(
            "Why is it slow?",
            ABOUT,
            grid([self._seconds.box]),
            row(self._find, self._again, self._work.button, self._work.state),
            self._agreeing.box,
            self._found,
            self._suggested,
            row(self._try, self._put, self._form_note),
            self._tried,
        )
        self.show(None, "")

    def show(self, run: Run | None, status: str) -> None:
        """Follow the opened run.

        Work in progress is given up if another run is opened, or if this run goes on or ends.
        """
        same = run is not None and self._run is not None and run.id == self._run.id
        over = run is not None and status not in LIVE
        if same and over == self._over:
            return
        self._work.give_up()
        self._agreeing.clear()
        if not same:
            self._together = run is None or run.plan.synchronous
            self._forget()
        self._run, self._over = run, over
        self._work.say(OWN_PACES if not self._together else "" if over else STILL_TRAINS)
        self._show_buttons(busy=False)
        if run is not None and not same:
            self._show_kept(run)

    def _show_kept(self, run: Run) -> None:
        try:
            verdict = saved_verdict(run)
        except RunError as error:
            self._found.value = markup.notice("warning", str(error))
            return
        if verdict is not None:
            self._show_verdict(verdict)
            self._work.say(f"{KEPT} {AGAIN if self._over else STILL_TRAINS}")

    def _forget(self) -> None:
        self._verdict = None
        for part in (self._found, self._suggested, self._tried, self._form_note):
            part.value = ""

    def _show_buttons(self, *, busy: bool) -> None:
        offered = self._over or not self._together  # records can be read at any time
        self._find.disabled = busy or not offered
        self._seconds.show(self._together)
        found = self._verdict
        set_visible(self._again, visible=found is not None and not found.decided)
        self._again.disabled = busy or not self._over
        if found is not None:
            self._again.description = f"Measure again for {units.duration(found.next_seconds)}"
        suggests = found is not None and found.suggestion is not None
        set_visible(self._try, visible=suggests)
        set_visible(self._put, visible=suggests)
        self._try.disabled = busy or not self._over

    def _on_find(self, _: Any) -> None:
        run = self._run
        if run is None:
            return
        if not self._together:
            self._work.begin(lambda on_progress, stopped: worker_speeds(run), self._show_speeds)
            return
        seconds = self._seconds.read_or_say()
        if seconds is None:
            return
        self._agreeing.before(run, partial(self._begin_timing, run, seconds))

    def _on_again(self, _: Any) -> None:
        run, verdict = self._run, self._verdict
        if run is not None and verdict is not None:
            again = partial(self._begin_timing, run, verdict.next_seconds)
            self._agreeing.before(run, again)

    def _begin_timing(self, run: Run, seconds: float) -> None:
        self._forget()
        self._work.begin(
            lambda on_progress, stopped: judge(run, seconds, on_progress, stopped),
            self._show_verdict,
        )

    def _on_try(self, _: Any) -> None:
        run, verdict = self._run, self._verdict
        if run is not None and verdict is not None:
            trial = partial(self._begin_trial, run, verdict)
            settings = partial(self._agreeing.before, run, trial, foreign_settings)
            self._agreeing.before(run, settings)

    def _begin_trial(self, run: Run, verdict: Verdict) -> None:
        self._tried.value = ""
        self._work.begin(
            lambda on_progress, stopped: try_out(
                run, verdict, on_progress=on_progress, stopped=stopped
            ),
            self._show_trial,
        )

    def _on_put(self, _: Any) -> None:
        run, verdict = self._run, self._verdict
        if run is not None and verdict is not None and verdict.suggestion is not None:
            put = partial(self._put_changes, run, verdict.suggestion.changes)
            self._agreeing.before(run, put, foreign_settings)

    def _put_changes(self, run: Run, changes: Mapping[str, Any]) -> None:
        self._write(dataclasses.replace(run.config, **changes))
        words = verdict_picture.changes_text(changes, self._label_of)
        self._form_note.value = markup.quiet(f"{SAME_CONFIG} {words}. Train starts it.")

    def _show_verdict(self, verdict: Verdict) -> None:
        if self._run is None or self._run.id != verdict.run:
            return
        self._verdict = verdict
        self._found.value = verdict_picture.page(verdict)
        suggestion = verdict.suggestion
        if suggestion is not None:
            self._suggested.value = verdict_picture.suggestion(suggestion, self._label_of)
        else:
            self._suggested.value = markup.notice("info", verdict.advice) if verdict.decided else ""
        self._show_buttons(busy=False)

    def _show_trial(self, trial: Trial) -> None:
        if self._run is None or self._run.id != trial.before:
            return
        self._tried.value = verdict_picture.trial(trial)

    def _show_speeds(self, speeds: Sequence[WorkerSpeed]) -> None:
        self._found.value = verdict_picture.worker_speeds(speeds)
