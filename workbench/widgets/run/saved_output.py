"""The output that a saved notebook shows without a kernel: a picture of the curves and a table.

It is a separate output below the live view. Widget managers build an updated output again. Because
the outputs are separate, this one can be updated often, and the live view is not built again.
The live view's style sheet hides this output. If the live view is missing, its style sheet is
missing too, and this output is visible.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from workbench import charts, units
from workbench.feed import describe
from workbench.widgets.parts import markup
from workbench.widgets.pictures.png import data_uri

from .plain_view import epoch_table

if TYPE_CHECKING:
    from workbench.feed import RunFeed, RunSnapshot

MARKER_MIME = "application/vnd.tf-distribute-workbench.snapshot+json"
WIDGET_MIME = "application/vnd.jupyter.widget-view+json"
EVERY_SECONDS = 30.0


def live_bundle(model_id: str) -> dict[str, Any]:
    """Return the output of the live view, with a text for hosts that have no widgets."""
    return {
        "text/plain": "The workbench: run this cell for the live view.",
        "text/html": "",
        WIDGET_MIME: {"version_major": 2, "version_minor": 0, "model_id": model_id},
        MARKER_MIME: {"version": 1},
    }


def saved_bundle(
    token: str, look: RunSnapshot | None = None, feed: RunFeed | None = None
) -> dict[str, Any]:
    """Return the output that a saved notebook shows."""
    inside = _nothing() if look is None or feed is None else _run(look, feed)
    return {
        "text/plain": "" if look is None else f"{look.run.dated_title}: {look.status}",
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


def _run(look: RunSnapshot, feed: RunFeed) -> str:
    points, epochs, rows = feed.curves()
    drawn = charts.picture(points, epochs, virtual=look.plan.virtual)
    account = f"Loss, accuracy and throughput of run {look.run.dated_title}"
    picture = f'<img alt="{markup.text(account)}" src="{data_uri(drawn)}">'
    when = time.strftime("%d %b %Y, %H:%M:%S")
    return (
        f"<h4>{markup.text(look.run.dated_title)}: {markup.text(look.status)}</h4>"
        f"<p>{markup.text(describe(look.plan))}</p>{picture}{_table(look, rows)}"
        f"{epoch_table(rows)}<p>As of {when}.</p>"
    )


def _table(look: RunSnapshot, rows: list[dict[str, Any]]) -> str:
    progress = look.progress
    tested = [row for row in rows if row.get("test_accuracy") is not None]
    last = tested[-1] if tested else {}
    lines = [
        ("Run", look.run.id),
        ("State", look.status),
        ("Epochs", f"{len(rows)} of {progress.epochs}"),
        ("Steps", f"{progress.step:,} of {progress.total_steps:,}"),
        ("Test accuracy", units.percent(last.get("test_accuracy"))),
        ("Test loss", units.number(last.get("test_loss"))),
    ]
    return markup.table("Result", ("", ""), lines)
