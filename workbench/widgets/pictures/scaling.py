"""The answer to how far more replicas help a run, as HTML: efficiency bars and their tables."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.experiments import scaling_wording as wording
from workbench.experiments.scaling import Larger, Scaling
from workbench.widgets.parts import markup

from . import interval_bars

WHERE, SCALE = "Weights", "Noise scale"
EFFICIENCY = "Statistical efficiency"
WIDTHS = {"label_width": 190.0, "value_width": 110.0}


def page(answer: Scaling) -> str:
    """Return the answer, its bars, and the numbers behind it."""
    return markup.spaced(
        markup.answer(answer.sentence),
        bars(answer),
        _table("Larger batches", wording.HEAD, wording.larger_rows(answer), range(1, 6)),
        markup.quiet(wording.EXPLAINED),
        _table("The noise scale", (WHERE, SCALE), wording.scales(answer)),
        _goodput(answer),
        "".join(markup.quiet(note) for note in wording.goodput_notes(answer)),
    )


def bars(answer: Scaling) -> str:
    """Return the efficiency of each batch with its interval (SVG); empty if none is known."""
    drawn = [
        bar
        for at, each in enumerate(answer.larger)
        if (bar := _bar(each, answer.replicas, at)) is not None
    ]
    if not drawn:
        return ""
    account = "; ".join(f"{bar.label}: {bar.text}" for bar in drawn)
    return markup.heading(EFFICIENCY, 3) + interval_bars.draw(
        drawn, EFFICIENCY, f"{EFFICIENCY}. {account}", 1.0, **WIDTHS
    )


def _bar(each: Larger, replicas: int, number: int) -> interval_bars.Bar | None:
    value = each.efficiency_low if each.efficiency is None else each.efficiency
    if value is None:
        return None
    text = wording.share(value) if each.efficiency is not None else f"at least {value:.0%}"
    now = " (now)" if each.times == 1 else ""
    label = f"{each.global_batch_size:,} on {each.times * replicas:,} replicas{now}"
    return interval_bars.Bar(
        label, value, each.efficiency_low, each.efficiency_high, text, 0 if number else 1
    )


def _goodput(answer: Scaling) -> str:
    rows = wording.goodput_rows(answer)
    return _table("Goodput", wording.GOODPUT_HEAD, rows, range(1, 6)) if rows else ""


def _table(
    title: str, head: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[int] = ()
) -> str:
    columns = [f"{each[:1].upper()}{each[1:]}" for each in head]
    return markup.scrolling(title, markup.table(title, columns, rows, numeric))
