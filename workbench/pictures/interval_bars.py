"""Values with their 95 % intervals as bars (SVG)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from . import drawing

ACROSS, DOWN, LABEL_WIDTH, VALUE_WIDTH = 720, 26, 220, 90


@dataclass(frozen=True)
class Bar:
    """One bar: its label, its length, the ends of its interval, and its value as text."""

    label: str
    value: float
    low: float | None
    high: float | None
    """An interval with one end has a whisker with one end."""
    text: str
    number: int
    """The number of its usual colour."""
    color: str = ""
    """A colour that the user chose instead; the page may have the same, so it has an outline."""


def draw(
    bars: Sequence[Bar],
    title: str,
    description: str,
    highest: float,
    label_width: float = LABEL_WIDTH,
    value_width: float = VALUE_WIDTH,
) -> str:
    """Return the bars, one below the other; a bar of the value `highest` fills the width.

    `label_width` and `value_width` are the widths of labels and values in pixels.
    """
    scale = (ACROSS - label_width - value_width) / highest
    drawn = [_bar(bar, label_width, at * DOWN, scale) for at, bar in enumerate(bars)]
    return drawing.svg(ACROSS, DOWN * len(bars) + 4, description, *drawn, name=title)


def _bar(bar: Bar, left: float, top: float, scale: float) -> str:
    box = drawing.Box(left, top + 4, bar.value * scale, DOWN - 10)
    color = bar.color or drawing.color_of(bar.number)
    outline = ' class="wb-outlined"' if bar.color else ""
    ends = [left + end * scale for end in (bar.low, bar.high) if end is not None]
    right = max([box.right, *ends])
    return "".join(
        [
            drawing.text(bar.label, left - 8, top + DOWN / 2 + 4, anchor="end"),
            drawing.rect(box, 2, f'fill="{color}" fill-opacity="0.45"{outline}'),
            _whisker(ends, top + DOWN / 2 - 1, f'stroke="{color}"{outline}'),
            drawing.text(bar.text, right + 6, top + DOWN / 2 + 3, "wb-faint"),
        ]
    )


def _whisker(ends: Sequence[float], middle: float, pen: str) -> str:
    """Draw a line between the ends, with a mark at each end."""
    if not ends:
        return ""
    marks = " ".join(f"M{end:.1f} {middle - 5:.1f} v10" for end in ends)
    line = f"M{ends[0]:.1f} {middle:.1f} H{ends[-1]:.1f}"
    return f'<path d="{marks} {line}" fill="none" {pen} stroke-width="1.5"/>'
