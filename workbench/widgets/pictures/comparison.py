"""A comparison as HTML: its table, its speeds as bars, and its curves in one chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from workbench.charts.style import REPLICA_DASHES
from workbench.experiments.comparing.wording import HEAD, cells, used_columns
from workbench.pictures import drawing, interval_bars
from workbench.widgets.parts import markup

if TYPE_CHECKING:
    from workbench.experiments import Row, Table
    from workbench.points import Values

COLUMNS = ("Name", *HEAD[1:-1], "State", HEAD[-1])
NUMERIC = range(1, len(HEAD) - 1)
LOSS_DIFFERENCE = HEAD.index("Largest loss difference")
ACROSS, LABEL_LETTERS = 720, 34
CURVE_HEIGHT, MARGIN_LEFT, MARGIN_BOTTOM, TICKS = 240, 56, 28, 4
MOST_POINTS = 400
_DASHES = {"solid": "", "dash": "8 4", "dot": "2 3", "dashdot": "8 3 2 3", "longdash": "14 4"}


class _Ink:
    """The style of a row: its usual or a chosen colour, and dashes that also mark it.

    A colour that the user chose may be as dark or as bright as the page, so it has an outline.
    """

    def __init__(self, number: int, chosen: str) -> None:
        self.color = chosen or drawing.color_of(number)
        self.outline = ' class="wb-outlined"' if chosen else ""
        dash = _DASHES[REPLICA_DASHES[number % len(REPLICA_DASHES)]]
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.pen = f'fill="none" stroke="{self.color}" stroke-width="1.5"{dashes}{self.outline}'


@dataclass(frozen=True)
class Line:
    """One curve: its label, its number among the rows, its points."""

    label: str
    number: int
    x: Values
    y: Values
    color: str = ""
    """The colour that the user chose; empty: the usual colour of its number."""

    @property
    def pen(self) -> str:
        """The SVG attributes of the line that draws it."""
        return _Ink(self.number, self.color).pen


def table(
    comparison: Table,
    states: Sequence[str],
    shown: Sequence[int] | None = None,
    due: Sequence[bool] = (),
    heads: Mapping[str, markup.SortHead] | None = None,
) -> str:
    """Return the table (HTML).

    Args:
        comparison: the compared rows, and notes on them.
        states: the state of each row, in words.
        shown: the numbers of the rows that are shown, in their order; None: all.
        due: which rows have a loss difference that is being calculated; empty: none.
        heads: the columns whose heads are buttons, by their titles.
    """
    rows = []
    for at in range(len(comparison.rows)) if shown is None else shown:
        *numbers, notes = cells(comparison.rows[at], is_baseline=at == comparison.baseline)
        if due and due[at]:
            numbers[LOSS_DIFFERENCE] = "calculating"
        rows.append([*numbers, states[at], notes])
    used = used_columns(rows)
    numeric = [used.index(at) for at in used if at in NUMERIC]
    made = markup.table(
        "Comparison table", [COLUMNS[at] for at in used], [[r[at] for at in used] for r in rows],
        numeric, heads,
    )  # fmt: skip
    notes = "".join(markup.notice("warning", f"{note}.") for note in comparison.notes)
    return notes + markup.scrolling("Comparison table", made, "wb-noted")


def bars(
    comparison: Table, shown: Sequence[int] | None = None, colors: Mapping[str, str] | None = None
) -> str:
    """Return the speeds with their intervals as bars (SVG); empty before a speed is known.

    `shown` is the same as in `table`. `colors` has the colours that the user chose, by the rows'
    labels.
    """
    numbers = range(len(comparison.rows)) if shown is None else shown
    rows = [(at, comparison.rows[at]) for at in numbers if comparison.rows[at].examples_per_second]
    if not rows:
        return ""
    description = "; ".join(f"{row.label}: {row.examples_per_second:,.0f} examples per second"
                     for _, row in rows)  # fmt: skip
    drawn = [_bar(row, number, (colors or {}).get(row.label, "")) for number, row in rows]
    return interval_bars.draw(
        drawn, "Speeds", description, max(bar.high or bar.value for bar in drawn)
    )


def curves(lines: Sequence[Line], title: str, along: str) -> str:
    """Return all curves in one chart (SVG) with a legend; empty before there is a point."""
    shown = [line for line in map(_thinned, lines) if len(line.x)]
    if not shown:
        return ""
    x_high = max(float(line.x[-1]) for line in shown) or 1.0
    values = np.concatenate([line.y for line in shown])
    low, high = float(values.min()), float(values.max())
    high = high if high > low else low + 1.0
    width, height = ACROSS - MARGIN_LEFT - 12, CURVE_HEIGHT - MARGIN_BOTTOM - 24

    def place(x: Values, y: Values) -> tuple[Values, Values]:
        return MARGIN_LEFT + x / x_high * width, 24 + (high - y) / (high - low) * height

    parts = [drawing.text(title, 0, 12)]
    for tick in np.linspace(0, 1, TICKS + 1):
        y = 24 + tick * height
        parts.append(drawing.grid(MARGIN_LEFT, y, MARGIN_LEFT + width, y))
        label = f"{high - tick * (high - low):.3g}"
        parts.append(drawing.text(label, MARGIN_LEFT - 6, y + 4, "wb-faint", "end"))
        across = MARGIN_LEFT + tick * width
        parts.append(drawing.text(f"{tick * x_high:.4g}", across, CURVE_HEIGHT - 12, "wb-faint",
                                  "middle"))  # fmt: skip
    parts.append(drawing.text(along, MARGIN_LEFT + width, CURVE_HEIGHT, "wb-faint", "end"))
    for line in shown:
        parts.append(_polyline(*place(line.x, line.y), line.pen))
    description = f"{title} over {along}: " + "; ".join(
        f"{line.label} ends at {line.y[-1]:.4g}" for line in shown
    )
    drawn = drawing.svg(ACROSS, CURVE_HEIGHT + 6, description, *parts, name="Curves")
    return drawn + _legend(shown)


def _bar(row: Row, number: int, color: str) -> interval_bars.Bar:
    value, interval = row.examples_per_second or 0.0, row.examples_per_second_interval
    # If the repeats are few and uneven, the interval is very wide. The cut keeps the bars readable.
    low, high = (interval.low, min(interval.high, 2 * value)) if interval else (None, None)
    label = _shortened(row.label)
    return interval_bars.Bar(label, value, low, high, f"{value:,.0f}", number, color)


def _shortened(label: str) -> str:
    """Return a label that fits its place.

    It keeps the start and the end of a long label, because labels with the same start differ at
    the end.
    """
    most = LABEL_LETTERS
    return label if len(label) <= most else f"{label[: most // 2]}…{label[-(most // 2 - 1) :]}"


def _thinned(line: Line) -> Line:
    """Return the line with about `MOST_POINTS` of its points: its ends, and every peak."""
    kept = known = np.flatnonzero(np.isfinite(line.y) & np.isfinite(line.x))
    if len(known) > MOST_POINTS:
        width = -(-2 * len(known) // MOST_POINTS)
        parts = np.pad(known, (0, -len(known) % width), "edge").reshape(-1, width)
        extremes = [find(line.y[parts], axis=1, keepdims=True) for find in (np.argmin, np.argmax)]
        turns = [np.take_along_axis(parts, at, axis=1).ravel() for at in extremes]
        kept = np.unique(np.concatenate([known[[0, -1]], *turns]))
    return replace(line, x=line.x[kept], y=line.y[kept])


def _polyline(x: Values, y: Values, pen: str) -> str:
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    return f'<polyline points="{points}" {pen}/>'


def _legend(lines: Sequence[Line]) -> str:
    keys = "".join(
        f'<span class="wb-key"><svg width="28" height="8" aria-hidden="true">'
        f'<path d="M0 4 H28" {line.pen}/></svg> {markup.text(line.label)}</span>'
        for line in lines
    )
    return f'<div class="wb-keys">{keys}</div>'
