"""The coverage of intervals of rates, tested on draws whose true value is known."""

import math

import numpy as np
import pytest

from workbench.experiments.comparing.intervals import rate_interval, ratio_interval

DRAWS = 2_000


def drawn(seed: int, repeats: int, mean: float, spread: float) -> np.ndarray:
    """Return rates [DRAWS, repeats] whose logarithms are normally distributed."""
    return np.exp(np.random.default_rng(seed).normal(math.log(mean), spread, (DRAWS, repeats)))


@pytest.mark.parametrize("repeats", [3, 5, 10, 40])
def test_95_of_100_intervals_cover_the_rate(repeats: int) -> None:
    intervals = [rate_interval(rates.tolist()) for rates in drawn(repeats, repeats, 1500.0, 0.1)]
    covered = np.mean([not each.differs_from(1500.0) for each in intervals if each])
    assert 0.93 <= covered <= 0.97


@pytest.mark.parametrize("repeats", [3, 5, 10])
def test_95_of_100_intervals_cover_the_ratio_on_a_machine_that_drifts(repeats: int) -> None:
    shared = drawn(1, repeats, 1.0, 0.5)
    fast = drawn(2, repeats, 1100.0, 0.05) * shared
    slow = drawn(3, repeats, 1000.0, 0.05) * shared
    intervals = [
        ratio_interval(one.tolist(), other.tolist(), paired=True)
        for one, other in zip(fast, slow, strict=True)
    ]
    covered = np.mean([not each.differs_from(1.1) for each in intervals if each])
    assert 0.93 <= covered <= 0.97


def test_intervals_cover_the_ratio_of_independent_repeats_with_different_spreads() -> None:
    fast, slow = drawn(4, 8, 1100.0, 0.1), drawn(5, 5, 1000.0, 0.05)
    intervals = [
        ratio_interval(one.tolist(), other.tolist(), paired=False)
        for one, other in zip(fast, slow, strict=True)
    ]
    covered = np.mean([not each.differs_from(1.1) for each in intervals if each])
    assert 0.93 <= covered <= 0.97


def test_equal_rates_differ_significantly_once_in_twenty() -> None:
    one, other = drawn(6, 5, 1000.0, 0.1), drawn(7, 5, 1000.0, 0.1)
    pairs = zip(one, other, strict=True)
    intervals = [ratio_interval(a.tolist(), b.tolist(), paired=False) for a, b in pairs]
    assert 0.03 <= np.mean([each.differs_from(1.0) for each in intervals if each]) <= 0.07


def test_two_repeats_are_too_few() -> None:
    assert rate_interval([1000.0, 1100.0]) is None
    assert ratio_interval([1.0, 2.0], [1.0, 2.0, 3.0], paired=False) is None


def test_a_pair_needs_both_rates() -> None:
    with pytest.raises(ValueError, match="got 3 and 4"):
        ratio_interval([1.0] * 3, [1.0] * 4, paired=True)


def test_equal_repeats_give_an_interval_of_width_zero() -> None:
    found = ratio_interval([2.0] * 3, [1.0] * 3, paired=False)
    assert found is not None
    assert (found.value, found.low, found.high) == pytest.approx((2.0, 2.0, 2.0))
