"""The output that a saved notebook shows without a kernel: a picture of the curves and a table.

It is a separate output below the live view. Widget managers build an updated output again. Because
the outputs are separate, this one can be updated often, and the live view is not built again.
The live view's style sheet hides this output. If the live view is missing, its style sheet is
missing too, and this output is visible.
"""

from __future__ import annotations

import secrets
import shlex
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from workbench import charts, units
from workbench.feed import describe
from workbench.widgets.kernel import outputs
from workbench.widgets.kernel.background import Latest
from workbench.widgets.parts import markup
from workbench.widgets.pictures.png import data_uri

from .plain_view import epoch_table

if TYPE_CHECKING:
    from workbench.feed import RunFeed
    from workbench.runs import Summary

MARKER_MIME = "application/vnd.tf-distribute-workbench.snapshot+json"
WIDGET_MIME = "application/vnd.jupyter.widget-view+json"
EVERY_SECONDS = 30.0


class SavedView:
    """The saved output of one workbench. It follows the opened run."""

    def __init__(self, failed: Callable[[Exception], None]) -> None:
        """`failed` gets an error in the drawing of a picture, in a background thread."""
        self.token = secrets.token_hex(4)
        """Its name, in the page and in the file."""
        self._failed = failed
        self._display_id = f"workbench-{self.token}"
        self._saving: Latest[None] = Latest()
        self._shown = False
        self._changed = False
        """Whether the output is another one than the cell showed."""
        self._due_at = 0.0
        """The monotonic time, in seconds, at which the same state of a run is saved again."""
        self._state = ("", "")
        """The run that was saved last, and its state."""
        self._bundle = saved_bundle(self.token)
        self._newest: tuple[Summary, RunFeed] | None = None

    def show(self) -> None:
        """Put the output into the cell that runs."""
        self._shown = True
        outputs.show_bundle(self._bundle, self._display_id)
        self._save_soon()

    def follow(self, summary: Summary, feed: RunFeed) -> None:
        """Save each new state of the opened run soon, and the same state now and then."""
        now, state = time.monotonic(), (str(summary.dir), summary.status)
        if state != self._state or now >= self._due_at:
            self._state, self._due_at = state, now + EVERY_SECONDS
            self._newest = summary, feed
            self._save_soon()

    def forget(self) -> None:
        """Save that no run is open."""
        self._state, self._newest = ("", ""), None
        self._save_soon()

    def send_again(self) -> None:
        """Send the output to a page that came later: its file may hold an earlier state.

        What the cell showed is not sent again, because an update marks the notebook as unsaved.
        """
        if self._shown and self._changed:
            outputs.update_bundle(self._bundle, self._display_id)

    def _save_soon(self) -> None:
        if self._shown:
            self._saving.ask(self._save, lambda _: None, self._failed)

    def _save(self) -> None:
        bundle = saved_bundle(self.token, *(self._newest or ()))
        if bundle != self._bundle:
            self._bundle, self._changed = bundle, True
            self.send_again()


def live_bundle(model_id: str) -> dict[str, Any]:
    """Return the output of the live view, with a text for hosts that have no widgets."""
    return {
        "text/plain": "The workbench: run this cell for the live view.",
        "text/html": "",
        WIDGET_MIME: {"version_major": 2, "version_minor": 0, "model_id": model_id},
        MARKER_MIME: {"version": 1},
    }


def saved_bundle(
    token: str, summary: Summary | None = None, feed: RunFeed | None = None
) -> dict[str, Any]:
    """Return the output that a saved notebook shows."""
    when = time.strftime("%d %b %Y, %H:%M:%S")
    title, inside = "", _nothing()
    if summary is not None and feed is not None:
        title, inside = _title(summary, feed, when), _run(summary, feed, when)
    return {
        "text/plain": title,
        "text/html": f'<div class="wb-snapshot wb-snapshot-{token}">{inside}</div>',
    }


def hiding_style(token: str) -> str:
    """Return the live view's style that hides the saved view while the live view is in sight."""
    seen = f"body:not(:has(.lm-mod-hidden .wb-live-{token}))"
    saved = f".wb-snapshot-{token}"
    return (
        f"<style>{seen} {saved}, {seen} .jp-OutputArea-child:has({saved}){{display:none}}</style>"
    )


def _nothing() -> str:
    return "<p>The workbench had no run open when this notebook was saved.</p>"


def _run(summary: Summary, feed: RunFeed, when: str) -> str:
    points, epochs, rows = feed.curves()
    picture = ""
    if len(points.step):
        drawn = charts.picture(points, epochs, virtual=summary.plan.virtual)
        description = f"Loss, accuracy and throughput of run {feed.run.dated_title}"
        picture = f'<img alt="{markup.text(description)}" src="{data_uri(drawn)}">'
    return (
        f"<h4>{markup.text(_title(summary, feed, when))}</h4>"
        f"<p>{markup.text(describe(summary.plan))}</p>{_later(summary)}{picture}"
        f"{_table(summary, rows, when)}{epoch_table(rows)}"
    )


def _title(summary: Summary, feed: RunFeed, when: str) -> str:
    return f"{feed.run.dated_title}: {_state(summary, when)}"


def _state(summary: Summary, when: str) -> str:
    return f"{summary.status}, as of {when}"


def _later(summary: Summary) -> str:
    """Return a note that a run which was alive may have gone on since; else an empty text."""
    if not summary.alive:
        return ""
    command = markup.text(f"workbench runs show {shlex.quote(str(summary.dir))}")
    since = "The run may have gone on since then. To see it now, run the cell, or in a terminal:"
    return f"<p>{since} <code>{command}</code></p>"


def _table(summary: Summary, rows: list[dict[str, Any]], when: str) -> str:
    progress, results = summary.progress, summary.results
    lines = [
        ("Run", summary.id),
        ("State", _state(summary, when)),
        ("Epochs", f"{len(rows)} of {progress.epochs}"),
        ("Steps", f"{progress.step:,} of {progress.total_steps:,}"),
    ]
    if summary.plan.is_tested:
        lines += [
            ("Test accuracy", units.percent(results["test_accuracy"])),
            ("Test loss", units.number(results["test_loss"])),
        ]
    return markup.table("Result", ("", ""), lines)
