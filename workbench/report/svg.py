"""Lines and bars as SVG pictures inside the page, with colours from the page's style."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.charts import Line
from workbench.points import Values
from workbench.report.html import Html, joined, tag

WIDTH, HEIGHT = 560, 250
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 10, 34
DASHES = {"dash": "6 4", "dot": "2 3", "dashdot": "6 3 2 3", "longdash": "10 4"}
TICKS = 5
EDGE = 0.03
"""The share of the range of numbers that stays free on each side."""
COLORS = ("#2f81f7", "#d9730d", "#b58900", "#1a9c5b", "#0e9aa7", "#c23fb3", "#e0484f", "#7a828c")


@dataclass(frozen=True)
class Axis:
    """A range of numbers along `length` pixels from `start`; a negative length goes up."""

    low: float
    high: float
    start: float
    length: float

    @classmethod
    def over(
        cls, values: Sequence[Values], start: float, length: float, *, zero: bool = False
    ) -> Axis:
        """Return an axis that fits all finite values; if there are none, from 0 to 1."""
        known = np.concatenate([np.empty(0), *(each[np.isfinite(each)] for each in values)])
        low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
        low = min(low, 0.0) if zero else low
        if low == high:
            low, high = low - (abs(low) or 1) / 2, high + (abs(high) or 1) / 2
        room = EDGE * (high - low)
        return cls(low if zero else low - room, high + room, start, length)

    def at(self, values: Values) -> Values:
        """Return the positions of the values on the picture."""
        return self.start + (values - self.low) / (self.high - self.low) * self.length

    def ticks(self) -> list[float]:
        """Return a few round numbers on the axis."""
        rough = (self.high - self.low) / TICKS
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * by for by in (1, 2, 5, 10) if power * by >= rough)
        first = math.ceil(self.low / step)
        count = math.floor(self.high / step) - first + 1
        return [(first + number) * step for number in range(count)]


def chart(title: str, across: str, lines: Sequence[Line], *, zero: bool = False) -> Html:
    """Return a figure with a title, the label `across` of the x axis, and the lines."""
    x = Axis.over([line.x for line in lines], LEFT, WIDTH - LEFT - RIGHT)
    y = Axis.over([line.y for line in lines], HEIGHT - BOTTOM, TOP + BOTTOM - HEIGHT, zero=zero)
    drawn = [_drawn(line, x, y) for line in lines]
    picture = tag(
        "svg",
        *_grid(x, y),
        *drawn,
        tag("text", across, x=WIDTH - RIGHT, y=HEIGHT - 4, class_="end"),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_label=_in_words(title, across, lines),
    )
    return tag("figure", tag("figcaption", title), picture)


def legend(lines: Sequence[Line]) -> Html:
    """Return the names of the lines with their style; each name appears once."""
    named = {line.name: line for line in reversed(lines)}
    items = [tag("li", _key(line), " ", line.name) for line in reversed(named.values())]
    return tag("ul", *items, class_="legend")


def short(value: float) -> str:
    """Return a number in few characters, such as 12k or 0.35."""
    size = abs(value)
    for power, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if size >= power:
            return f"{value / power:.4g}{letter}"
    return f"{0.0 if size < 1e-12 else value:.4g}"


def _key(line: Line) -> Html:
    marks = Line("", 0, np.array([13.0]), np.array([5.0]), line.style, in_legend=False)
    stroke = tag("path", d="M1 5H25", **_stroke(line)) if "lines" in line.style["mode"] else None
    dots = joined(_marks(marks, marks.x, marks.y))
    return tag("svg", stroke, dots, viewBox="0 0 26 10", class_="key", aria_hidden="true")


def _grid(x: Axis, y: Axis) -> Iterator[Html]:
    bottom = HEIGHT - BOTTOM
    for tick, at in zip(y.ticks(), y.at(np.array(y.ticks())), strict=True):
        yield tag("path", d=f"M{LEFT} {at:.1f}H{WIDTH - RIGHT}", class_="grid")
        yield tag("text", short(tick), x=LEFT - 6, y=f"{at + 4:.1f}", class_="end")
    for tick, at in zip(x.ticks(), x.at(np.array(x.ticks())), strict=True):
        yield tag("path", d=f"M{at:.1f} {TOP}V{bottom}", class_="grid")
        yield tag("text", short(tick), x=f"{at:.1f}", y=bottom + 15, class_="middle")


def _drawn(line: Line, x: Axis, y: Axis) -> Html:
    across, up = x.at(line.x), y.at(line.y)
    parts: list[Html] = []
    if "lines" in line.style["mode"] and (path := _path(across, up)):
        parts.append(tag("path", d=path, **_stroke(line)))
    parts += _marks(line, across, up)
    return tag("g", tag("title", line.name), *parts)


def _path(across: Values, up: Values) -> str:
    """Return the path through the known points; an unknown point is a gap."""
    known = np.isfinite(across) & np.isfinite(up)
    parts, pen = [], "M"
    following = np.append(known, False)[1:]
    for here, after, right, down in zip(known, following, across, up, strict=True):
        if not here:
            pen = "M"
            continue
        parts.append(f"{pen}{right:.1f} {down:.1f}")
        if pen == "M" and not after:
            parts.append("h.1")  # a single point shows as a dot
        pen = "L"
    return "".join(parts)


def _stroke(line: Line) -> dict[str, str | float | None]:
    pen = line.style.get("line", {})
    return {
        "class_": "line",
        "stroke": str(pen.get("color")),
        "stroke_width": 1.25 * float(pen.get("width", 1)),
        "stroke_dasharray": DASHES.get(str(pen.get("dash"))),
    }


def _marks(line: Line, across: Values, up: Values) -> list[Html]:
    marker = line.style.get("marker")
    if marker is None:
        return []
    size, color = min(float(marker["size"]), 9) / 2, str(marker["color"])
    known = np.isfinite(across) & np.isfinite(up)
    centres = zip(across[known], up[known], strict=True)
    if marker["symbol"] == "circle-open":
        style: dict[str, str | float | None] = {
            "fill": "none",
            "stroke": color,
            "stroke_width": 1.5,
        }
        return [tag("circle", cx=f"{a:.1f}", cy=f"{b:.1f}", r=size, **style) for a, b in centres]
    shape = f"l{size} {size}l{-size} {size}l{-size} {-size}z"
    return [tag("path", d=f"M{a:.1f} {b - size:.1f}{shape}", fill=color) for a, b in centres]


def _in_words(title: str, across: str, lines: Sequence[Line]) -> str:
    """Return the text for people who hear the page: the last values of up to 12 lines."""
    ends = []
    for line in lines:
        known = line.y[np.isfinite(line.y)]
        if len(known):
            ends.append(f"{line.name} ends at {short(float(known[-1]))}")
    return f"{title} by {across}. " + ("; ".join(ends[:12]) or "Nothing recorded") + "."


def bar(title: str, parts: Sequence[tuple[str, float]]) -> Html | None:
    """Return a bar under a title; None if there is nothing to divide.

    Each part has a text for the legend, and its size in any unit.
    """
    whole = sum(size for _, size in parts)
    if not whole:
        return None
    colored = list(zip(parts, COLORS * 2, strict=False))
    drawn = [
        tag("span", style=f"flex-grow:{size / whole:.4f};background:{color}")
        for (_, size), color in colored
    ]
    names = [
        tag("li", tag("span", class_="swatch", style=f"background:{color}"), text)
        for (text, _), color in colored
    ]
    return tag(
        "div",
        tag("h4", title),
        tag("div", *drawn, class_="bar", aria_hidden="true"),
        tag("ul", *names, class_="legend"),
    )
