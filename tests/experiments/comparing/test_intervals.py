"""What an interval of rates promises, on draws whose truth is known."""

import math

import numpy as np
import pytest

from workbench.experiments.comparing.intervals import rate_interval, ratio_interval

DRAWS = 2_000


def drawn(seed: int, repeats: int, mean: float, spread: float) -> np.ndarray:
    """Rates [DRAWS, repeats] whose logarithms are normal."""
    return np.exp(np.random.default_rng(seed).normal(math.log(mean), spread, (DRAWS, repeats)))


@pytest.mark.parametrize("repeats", [3, 5, 10, 40])
def test_a_rate_is_covered_95_times_of_100(repeats: int) -> None:
    intervals = [rate_interval(rates.tolist()) for rates in drawn(repeats, repeats, 1500.0, 0.1)]
    covered = np.mean([not each.differs_from(1500.0) for each in intervals if each])
    assert 0.93 <= covered <= 0.97


@pytest.mark.parametrize("repeats", [3, 5, 10])
def test_a_ratio_is_covered_95_times_of_100_where_the_machine_drifts(repeats: int) -> None:
    shared = drawn(1, repeats, 1.0, 0.5)
    fast = drawn(2, repeats, 1100.0, 0.05) * shared
    slow = drawn(3, repeats, 1000.0, 0.05) * shared
    intervals = [
        ratio_interval(one.tolist(), other.tolist(), paired=True)
        for one, other in zip(fast, slow, strict=True)
    ]
    covered = np.mean([not each.differs_from(1.1) for each in intervals if each])
    assert 0.93 <= covered <= 0.97


def test_a_ratio_of_repeats_that_share_nothing_is_covered_whatever_their_spreads() -> None:
    fast, slow = drawn(4, 8, 1100.0, 0.1), drawn(5, 5, 1000.0, 0.05)
    intervals = [
        ratio_interval(one.tolist(), other.tolist(), paired=False)
        for one, other in zip(fast, slow, strict=True)
    ]
    covered = np.mean([not each.differs_from(1.1) for each in intervals if each])
    assert 0.93 <= covered <= 0.97


def test_what_is_the_same_is_said_to_differ_once_in_twenty() -> None:
    one, other = drawn(6, 5, 1000.0, 0.1), drawn(7, 5, 1000.0, 0.1)
    pairs = zip(one, other, strict=True)
    intervals = [ratio_interval(a.tolist(), b.tolist(), paired=False) for a, b in pairs]
    assert 0.03 <= np.mean([each.differs_from(1.0) for each in intervals if each]) <= 0.07


def test_two_repeats_are_too_few() -> None:
    assert rate_interval([1000.0, 1100.0]) is None
    assert ratio_interval([1.0, 2.0], [1.0, 2.0, 3.0], paired=False) is None


def test_pairs_are_whole() -> None:
    with pytest.raises(ValueError, match="got 3 and 4"):
        ratio_interval([1.0] * 3, [1.0] * 4, paired=True)


def test_repeats_that_are_all_equal_leave_no_doubt() -> None:
    found = ratio_interval([2.0] * 3, [1.0] * 3, paired=False)
    assert found is not None
    assert (found.value, found.low, found.high) == pytest.approx((2.0, 2.0, 2.0))
