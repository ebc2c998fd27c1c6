"""The statistical efficiency of larger batches as bars with their intervals (SVG)."""

from __future__ import annotations

from workbench.experiments import scaling_wording as wording
from workbench.experiments.scaling import Larger, Scaling

from . import interval_bars

EFFICIENCY = "Statistical efficiency"
WIDTHS = {"label_width": 190.0, "value_width": 110.0}


def bars(answer: Scaling) -> str:
    """Return the efficiency of each batch with its interval (SVG); empty if none is known."""
    drawn = [
        bar
        for at, each in enumerate(answer.larger)
        if (bar := _bar(each, answer.replicas, at)) is not None
    ]
    if not drawn:
        return ""
    description = "; ".join(f"{bar.label}: {bar.text}" for bar in drawn)
    return interval_bars.draw(drawn, EFFICIENCY, f"{EFFICIENCY}. {description}", 1.0, **WIDTHS)


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
