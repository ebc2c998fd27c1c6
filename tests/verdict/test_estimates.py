"""Intervals cover the true value as often as they promise."""

import numpy as np
import pytest

from workbench.verdict.estimates import levels_of, median_of, of_levels, resamples


def test_the_interval_of_a_median_covers_it_in_at_least_95_percent() -> None:
    draws = np.random.default_rng(7).lognormal(size=(2000, 12))
    covered = [(found := median_of(draw)).low <= 1.0 <= found.high for draw in draws]
    assert 0.94 <= np.mean(covered) <= 0.98


def test_the_interval_of_six_values_has_all_of_them() -> None:
    found = median_of([3.0, 1.0, 2.0, 6.0, 5.0, 4.0])
    assert (found.low, found.value, found.high) == (1.0, 3.5, 6.0)


def test_fewer_than_six_values_are_refused() -> None:
    with pytest.raises(ValueError, match=r"needs 6 measurements; received 5\. Measure longer"):
        median_of([1.0] * 5)


def test_the_interval_of_a_difference_covers_it() -> None:
    random, drawn = np.random.default_rng(3), resamples(15)
    covered = []
    for _ in range(300):
        load = random.exponential(0.1, 15)  # slows both equally
        whole, less = (level + load + random.exponential(0.05, 15) for level in (1.0, 0.7))
        found = of_levels(levels_of(whole, drawn) - levels_of(less, drawn))
        covered.append(found.low <= 0.3 <= found.high)
    assert np.mean(covered) >= 0.93


def test_a_pause_of_the_machine_does_not_count() -> None:
    drawn = resamples(12)
    times = np.array([1.0, 1.01, 1.02, 0.99] * 2 + [9.0, 30.0, 2.0, 4.0])
    assert of_levels(levels_of(times, drawn)).value == pytest.approx(1.0, abs=0.02)
