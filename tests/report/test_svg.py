"""The lines of a chart: round numbers on the axes, and gaps at unknown values."""

import re

import numpy as np
import pytest

from workbench.charts import Line
from workbench.report.svg import Axis, chart, legend, short

LOOK = {"mode": "lines", "line": {"color": "#123456", "dash": "dash", "width": 1}}
MARKED = {
    "mode": "markers",
    "marker": {"symbol": "diamond", "size": 9, "color": "#654321"},
}


def line(values: list[float], style: dict[str, object] = LOOK, name: str = "one") -> Line:
    return Line(name, 0, np.arange(len(values), dtype=float), np.array(values), style, True)


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0.3, 12, [5, 10]),
        (990, 1010, [*range(990, 1011, 5)]),
    ],
)
def test_ticks_are_few_and_round(low: float, high: float, ticks: list[float]) -> None:
    assert Axis(low, high, 0, 100).ticks() == pytest.approx(ticks)


def test_an_axis_fits_finite_values_and_exists_without_values() -> None:
    axis = Axis.over([np.array([1.0, np.nan, np.inf, 3.0])], 0, 100)
    assert axis.low < 1
    assert 3 < axis.high < 4
    assert Axis.over([np.array([2.0, 3.0])], 0, 100, zero=True).low == 0
    assert Axis.over([np.array([np.nan])], 0, 100).ticks()
    assert Axis.over([np.array([5.0, 5.0])], 0, 100).ticks()


def test_an_unknown_value_is_a_gap_and_a_single_point_is_visible() -> None:
    drawn = chart("Loss", "step", [line([1, 2, np.nan, 3, np.nan, 2, np.inf, 1, 1])])
    (path,) = re.findall(r'<path d="([^"]+)" class="line"', drawn)
    assert re.sub(r"[\d. ]+", "", path) == "MLMhMhML"


def test_a_picture_has_a_description() -> None:
    drawn = chart("Loss", "step", [line([3, 1.5]), line([], name="none")])
    assert 'aria-label="Loss by step. one ends at 1.5."' in drawn
    assert "Nothing recorded" in chart("Loss", "step", [])


def test_marks_and_dashes_are_in_the_picture_and_in_the_legend() -> None:
    drawn = chart("Loss", "step", [line([1, 2]), line([1, np.nan, 2], MARKED, "two")])
    assert 'stroke-dasharray="6 4"' in drawn
    assert drawn.count('fill="#654321"') == 2
    named = legend([line([1]), line([2]), line([1], MARKED, "<two>")])
    assert named.count("<li>") == 2
    assert "&lt;two&gt;" in named


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (1234.0, "1.234k"), (2e6, "2M"), (3e9, "3G"), (0.25, "0.25"), (1e-17, "0")],
)
def test_numbers_are_short(value: float, text: str) -> None:
    assert short(value) == text
