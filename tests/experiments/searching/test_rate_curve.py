"""The reading of the curve of a range test."""

from __future__ import annotations

import math

import numpy as np
import pytest

from workbench.experiments.searching.rate_curve import MEMORY, has_diverged, read_curve, smoothed

STEPS = 150
RATES = np.geomspace(1e-7, 10, STEPS).tolist()


def curve(steepest: float = 1e-3, scatter: float = 0.02, seed: int = 0) -> list[float]:
    """Return losses that fall like a logistic curve around a rate, and rise from a rate of 1 on."""
    x = np.log10(RATES)
    fall = 1 / (1 + np.exp(3 * (x - math.log10(steepest))))
    noise = np.random.default_rng(seed).normal(0, scatter, STEPS)
    return (0.1 + fall + np.maximum(0, x) ** 2 + noise).tolist()


def test_the_smoothed_loss_is_corrected_for_its_start() -> None:
    assert smoothed([2.0] * 20) == pytest.approx([2.0] * 20)
    assert smoothed([1.0, 3.0]) == pytest.approx([1.0, (0.09 * 1 + 0.1 * 3) / 0.19])


def test_a_loss_has_diverged_at_four_times_the_best_or_if_it_is_not_finite() -> None:
    flat = [1.0] * MEMORY
    assert not has_diverged(flat)
    assert not has_diverged([*flat, 15.0])
    assert has_diverged([*flat, 50.0])
    assert has_diverged([math.nan])
    assert has_diverged([1.0, math.inf])
    assert not has_diverged([])


def test_a_high_second_loss_is_no_divergence() -> None:
    assert not has_diverged([0.001, 3.0, 0.5])


@pytest.mark.parametrize("steepest", [1e-5, 1e-3, 3e-2])
@pytest.mark.parametrize("seed", range(5))
def test_the_suggestion_is_the_rate_at_which_the_loss_falls_fastest(
    steepest: float, seed: int
) -> None:
    reading = read_curve(RATES, curve(steepest, seed=seed), STEPS)
    assert reading.suggestion is not None
    assert reading.minimum_rate is not None
    assert abs(math.log10(reading.suggestion / steepest)) < 0.4
    assert reading.suggestion < reading.minimum_rate
    assert "falls fastest" in reading.reason


def test_a_curve_that_ends_with_a_loss_that_is_not_finite_is_read() -> None:
    losses = [*curve()[:120], math.nan]
    assert read_curve(RATES[:121], losses, STEPS).suggestion is not None


@pytest.mark.parametrize("seed", range(20))
def test_noise_does_not_count_as_a_fall(seed: int) -> None:
    losses = np.random.default_rng(seed).normal(1.0, 0.2, STEPS).tolist()
    reading = read_curve(RATES, losses, STEPS)
    assert reading.suggestion is None
    assert "never fell" in reading.reason


def test_a_loss_that_diverges_immediately_gives_a_reason() -> None:
    reading = read_curve(RATES[:3], [1.0, 2.0, math.inf], STEPS)
    assert reading.suggestion is None
    assert "Start at a lower rate" in reading.reason
