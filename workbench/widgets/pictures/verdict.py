"""A verdict as HTML: a bar of the parts of a step's time, a table of the parts, and notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from workbench import catalog
from workbench.charts.style import REPLICA_COLORS
from workbench.pictures import drawing, interval_bars
from workbench.verdict import Trial, Verdict, WorkerSpeed, wording
from workbench.verdict.causes import Suggestion
from workbench.verdict.parts import PARTS
from workbench.verdict.wording import PartRow
from workbench.widgets.parts import markup

ACROSS, DOWN, LETTER = 720, 34, 7.5
KNOWN, UNKNOWN = 0.55, 0.2
COLORS = dict(zip(PARTS, REPLICA_COLORS, strict=False))
HEAD = ("Part of a step", "Time", "95 %", "Share", "Meaning")
TRIAL_WIDTHS = {"label_width": 70, "value_width": 230}


def page(verdict: Verdict) -> str:
    """Return the answer, or why there is none, the bar, the table, and all other findings."""
    found = verdict.breakdown
    rows = list(wording.part_rows(found))
    lead = f"{wording.step(found)}. {wording.parts_sum(found)}"
    notes = [_sentence(lead), *wording.paces(found)]
    return markup.spaced(
        markup.answer(verdict.sentence)
        if verdict.decided
        else markup.notice("warning", f"{verdict.sentence} {verdict.advice}"),
        bar(rows),
        _table(rows),
        "".join(markup.quiet(note) for note in notes),
        *(markup.notice("warning", f"{each}.") for each in wording.unmeasured(found)),
        markup.quiet(wording.recorded(verdict)),
    )


def bar(rows: Sequence[PartRow]) -> str:
    """Return the step as one bar of its parts (SVG); a part that does not differ from 0 is pale."""
    parts = [(row.name, row.share, row.known) for row in rows if not row.within_compute]
    drawn, left = [], 0.0
    for name, share, known in parts:
        box = drawing.Box(left, 0, share * ACROSS, DOWN)
        drawn.append(_segment(box, name, known=known))
        left = box.right
    description = ", ".join(f"{name} {share:.1%}" for name, share, _ in parts)
    return drawing.svg(ACROSS, DOWN, f"A step: {description}", *drawn, name="Parts of a step")


def suggestion(found: Suggestion, label_of: Callable[[str], str]) -> str:
    """Return the suggested change in the form's words, and its reason."""
    return markup.notice("info", f"Try {changes_text(found.changes, label_of)}. {found.reason}")


def changes_text(changes: Mapping[str, Any], label_of: Callable[[str], str]) -> str:
    """Return the changed fields, under their names in the form, with their new values."""
    return "; ".join(f"{label_of(name)}: {_value(name, new)}" for name, new in changes.items())


def trial(found: Trial) -> str:
    """Return the result of a suggestion: both speeds as bars, both steps, and the sentence."""
    speed = found.speedup
    speed_text = f"{speed.value:.2f} times the examples per second"
    bars = [
        interval_bars.Bar("before", 1.0, None, None, "1", 0),
        interval_bars.Bar("after", speed.value, speed.low, speed.high, speed_text, 1),
    ]
    highest = max(1.0, speed.high)
    table = markup.table("Before and after", _titles(wording.TRIAL_HEAD), wording.trial_rows(found))
    return markup.spaced(
        markup.answer(found.sentence),
        interval_bars.draw(bars, "Before and after", found.sentence, highest, **TRIAL_WIDTHS),
        markup.scrolling("Before and after", table),
    )


def worker_speeds(found: Sequence[WorkerSpeed]) -> str:
    """Return the step time of each worker, for workers that wait for no other worker."""
    title = "The speed of each worker"
    table = markup.table(title, _titles(wording.OWN_HEAD), wording.worker_speed_rows(found))
    return markup.spaced(markup.scrolling(title, table), markup.quiet(wording.OWN))


def _segment(box: drawing.Box, name: str, *, known: bool) -> str:
    style = f'fill="{COLORS[name]}" fill-opacity="{KNOWN if known else UNKNOWN}"'
    fits = len(name) * LETTER < box.width
    label = drawing.label(name, box.middle, DOWN / 2 + 4) if fits else ""
    return drawing.rect(box, 0, style) + label


def _table(rows: Sequence[PartRow]) -> str:
    head = "".join(f"<th{_numeric(at)}>{title}</th>" for at, title in enumerate(HEAD))
    body = "".join(f"<tr>{_cells(row)}</tr>" for row in rows)
    caption = '<caption class="wb-hidden">Parts of a step</caption>'
    table = (
        f'<table class="wb-table">{caption}<thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )
    return markup.scrolling("Parts of a step, listed", table)


def _cells(row: PartRow) -> str:
    color = COLORS.get(row.name, "transparent")
    swatch = f'<span class="wb-swatch" style="background:{color}"></span>'
    name = f"of which {row.name}" if row.within_compute else row.name
    values = [row.time, row.interval, f"{row.share:.1%}", row.meaning]
    cells = "".join(
        f"<td{_numeric(at)}>{markup.text(value)}</td>" for at, value in enumerate(values, 1)
    )
    return f'<td class="wb-nowrap">{swatch}{markup.text(name)}</td>{cells}'


def _numeric(at: int) -> str:
    return ' class="wb-number"' if 0 < at < len(HEAD) - 1 else ""


def _titles(head: Sequence[str]) -> list[str]:
    return [_sentence(title) for title in head]


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _value(name: str, value: object) -> str:
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int):
        return f"{value:,}"
    row = catalog.CHOICES.get(name, {}).get(str(value))
    return str(value) if row is None else row.label
