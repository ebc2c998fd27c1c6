"""The answer to how far more replicas help a run, as HTML: efficiency bars and their tables."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.experiments import scaling_wording as wording
from workbench.experiments.scaling import Scaling
from workbench.pictures.scaling import EFFICIENCY, bars
from workbench.widgets.parts import markup


def page(answer: Scaling) -> str:
    """Return the answer, its bars, and the numbers behind it."""
    drawn = bars(answer)
    return markup.spaced(
        markup.answer(answer.sentence),
        f"{markup.heading(EFFICIENCY, 3)}{drawn}" if drawn else "",
        _table("Larger batches", wording.HEAD, wording.larger_rows(answer), range(1, 6)),
        markup.quiet(wording.EXPLAINED),
        _table("The noise scale", wording.SCALES_HEAD, wording.scales(answer)),
        _goodput(answer),
        "".join(markup.quiet(note) for note in wording.goodput_notes(answer)),
    )


def _goodput(answer: Scaling) -> str:
    rows = wording.goodput_rows(answer)
    return _table("Goodput", wording.GOODPUT_HEAD, rows, range(1, 6)) if rows else ""


def _table(
    title: str, head: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[int] = ()
) -> str:
    columns = [f"{each[:1].upper()}{each[1:]}" for each in head]
    return markup.scrolling(title, markup.table(title, columns, rows, numeric))
