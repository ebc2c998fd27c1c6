"""Pictures of the two searches, drawn from written results."""

from __future__ import annotations

import re

import pytest

from tests.widgets.pictures.trials import TRIALS
from workbench.experiments.searching.rate_test import smoothed
from workbench.widgets.pictures.search import Frame, even_ticks, losses, rate_ticks, throughput

RATES = [1e-5 * 10 ** (at / 20) for at in range(100)]
LOSSES: list[float | None] = [1.0 - at / 200 for at in range(100)]


def circles(drawn: str) -> list[tuple[float, float]]:
    found = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', drawn)
    return [(float(x), float(y)) for x, y in found]


def test_throughput_rises_to_the_right_and_a_size_that_does_not_fit_is_marked() -> None:
    drawn = throughput(TRIALS, largest=32, best=16)
    (x, y), (other_x, other_y) = circles(drawn)
    assert x < other_x
    assert y > other_y
    for words in ("64: does not fit", "32: the largest that fits", "16: the best throughput"):
        assert f">{words}</text>" in drawn
    shade = re.search(r'<rect x="([\d.]+)"', drawn)
    assert shade is not None
    assert float(shade[1]) > other_x


def test_an_interval_without_an_upper_end_has_no_cap_there() -> None:
    closed, open_above = re.findall(r'<path d="(M[^"]*h8[^"]*)" fill="none"', throughput(TRIALS))
    assert closed.count("h8") == 2
    assert open_above.count("h8") == 1


def test_sizes_are_described_as_text_too() -> None:
    drawn = throughput(TRIALS, largest=32)
    assert (
        "16 per replica: 3,200; 32 per replica: 6,400; 64: does not fit; 32: the largest" in drawn
    )
    assert 'aria-label="Throughput by batch size"' in drawn


def test_a_single_size_is_drawn() -> None:
    drawn = throughput(TRIALS[:1], 16, 16)
    assert len(circles(drawn)) == 1
    assert ">16: the largest that fits, the best throughput</text>" in drawn


def test_there_is_no_picture_before_the_first_measurement() -> None:
    assert throughput(()) == throughput(TRIALS[2:]) == ""
    assert losses([], [], [], (1e-7, 10.0)) == losses([1e-3], [None], [], (1e-7, 10.0)) == ""


def test_the_loss_is_drawn_raw_and_smoothed_on_the_axis_of_the_complete_test() -> None:
    known = [loss for loss in LOSSES if loss is not None]
    half = losses(RATES[:50], LOSSES[:50], smoothed(known[:50]), (1e-5, 1.0), None)
    raw, smooth = re.findall(r'<polyline points="([^"]*)"', half)
    frame = Frame(1e-5, 1.0, 0.0, 1.0)
    end = float(raw.split()[-1].partition(",")[0])
    assert end == pytest.approx(frame.x(RATES[49]), abs=0.1)
    assert len(raw.split()) == len(smooth.split()) == 50
    assert "suggested" not in half


def test_the_suggestion_is_marked_and_described() -> None:
    values = smoothed([loss for loss in LOSSES if loss is not None])
    drawn = losses(RATES, [*LOSSES[:-1], None], values[:-1], (1e-5, 1.0), 0.0032)
    assert ">0.0032: suggested</text>" in drawn
    assert "0.0032 is suggested" in drawn
    assert ">of each step<" not in drawn
    assert "</svg> of each step</span>" in drawn


def test_a_long_test_is_thinned() -> None:
    rates = [1e-7 * 10 ** (at / 1000) for at in range(8000)]
    drawn = losses(rates, [1.0 - at / 10000 for at in range(8000)], [1.0, 0.5], (1e-7, 10.0))
    raw = re.findall(r'<polyline points="([^"]*)"', drawn)[0]
    assert len(raw.split()) <= 500


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (1e-7, 10.0, [10.0**power for power in range(-7, 2)]),
        (1e-3, 0.1, [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1]),
        (0.011, 0.013, [0.011, 0.013]),
    ],
)
def test_rates_are_marked_at_round_numbers(low: float, high: float, ticks: list[float]) -> None:
    assert rate_ticks(low, high) == pytest.approx(ticks)


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.0, 6720.0, [0, 2000, 4000, 6000]),
        (0.19, 0.74, [0.2, 0.4, 0.6]),
        (-1.0, 1.0, [-1.0, -0.5, 0.0, 0.5, 1.0]),
    ],
)
def test_values_are_marked_at_round_numbers(low: float, high: float, ticks: list[float]) -> None:
    assert even_ticks(low, high) == pytest.approx(ticks)
