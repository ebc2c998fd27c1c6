"""The search for the largest size: it needs few trials and ends near the true size."""

from __future__ import annotations

import pytest

from workbench.experiments.searching.batch_search import NOTCH, doubling, next_size, trials_left


def search(true: int, most: int) -> tuple[int | None, int | None, int]:
    """Search on a machine on which sizes up to `true` fit; return the bounds and the trials."""
    fits: int | None = None
    fails: int | None = None
    trials = 0
    while (size := next_size(fits, fails, most)) is not None:
        assert (fits or 0) < size < (fails or most + 1)
        trials += 1
        fits, fails = (size, fails) if size <= true else (fits, size)
    return fits, fails, trials


@pytest.mark.parametrize("true", [*range(1, 200), 255, 256, 257, 1000, 1023, 4999, 65_535])
def test_it_ends_within_a_notch_below_the_true_size(true: int) -> None:
    fits, fails, trials = search(true, most=100_000)
    assert fits is not None
    assert fits <= true <= NOTCH * fits
    assert fails is not None
    assert fails > true
    assert trials <= true.bit_length() + 4


@pytest.mark.parametrize("most", [1, 2, 7, 64, 100])
def test_if_the_data_is_the_limit_all_of_it_is_used(most: int) -> None:
    assert search(true=10**6, most=most)[:2] == (most, None)


def test_if_one_example_does_not_fit_no_size_fits() -> None:
    assert search(true=0, most=100) == (None, 1, 1)


@pytest.mark.parametrize(
    ("most", "sizes"), [(1, [1]), (8, [1, 2, 4, 8]), (11, [1, 2, 4, 8, 11]), (3, [1, 2, 3])]
)
def test_doubling_ends_with_all_the_data(most: int, sizes: list[int]) -> None:
    assert doubling(most) == sizes


def test_large_sizes_are_round() -> None:
    assert next_size(128, 256, 10_000) == 184
    assert next_size(10, 16, 10_000) == 13


def test_the_number_of_trials_left_is_estimated() -> None:
    assert trials_left(None, None, most=64, expected=None) == 6
    assert trials_left(4, None, most=1 << 20, expected=32.0) == 3 + 2
    assert trials_left(64, 128, most=1 << 20, expected=None) == 2
    assert trials_left(64, 80, most=1 << 20, expected=None) == 0
    assert trials_left(64, None, most=64, expected=None) == 0
