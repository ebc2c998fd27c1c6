"""Rates and sizes: which differ, which is best, which is tried next; and the results in words."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.experiments.searching.results import (
    NOTCH,
    SIZE_HEAD,
    BatchProgress,
    Rate,
    RateProgress,
    Trial,
    batch_progress,
    beside_sentence,
    best_size,
    differ,
    doubling,
    next_size,
    rate_progress,
    size_cells,
    trials_left,
)

FITTING = Trial(
    1024, 2048, True, peak_mib=1234.4, alone=False, step_seconds=0.01, examples_per_second=3200.0,
    examples_per_second_low=3000.0,
)  # fmt: skip


def test_every_step_counts_equally_in_blocks_of_any_size() -> None:
    rate = Rate.of(64, [(10, 1.0), (30, 3.0)])
    assert rate.step_seconds == pytest.approx(0.1)
    assert rate.examples_per_second == pytest.approx(640)
    assert rate.standard_error == pytest.approx(0)


def test_a_single_block_has_no_interval() -> None:
    assert Rate.of(64, [(10, 1.0)]).interval is None


def blocks(random: np.random.Generator, step_seconds: float, count: int = 8) -> Rate:
    """Return a rate from blocks of ten steps whose times scatter by a tenth."""
    seconds = random.normal(10 * step_seconds, step_seconds, count)
    return Rate.of(64, [(10, each) for each in seconds])


def test_95_of_100_intervals_cover_the_rate() -> None:
    random = np.random.default_rng(0)
    intervals = [blocks(random, 0.1).interval for _ in range(2000)]
    covered = [low <= 640 <= high for low, high in filter(None, intervals)]
    assert 0.93 <= sum(covered) / 2000 <= 0.97


def test_equal_rates_differ_significantly_once_in_twenty() -> None:
    random = np.random.default_rng(1)
    found = [differ(blocks(random, 0.1), blocks(random, 0.1)) for _ in range(2000)]
    assert 0.03 <= sum(found) / 2000 <= 0.07


def test_the_smallest_of_the_sizes_that_do_not_differ_is_best() -> None:
    rates = {
        size: Rate(size, size / speed, 0.01 * size / speed, 8)
        for size, speed in ((16, 500.0), (32, 990.0), (64, 1000.0), (128, 700.0))
    }
    assert best_size(rates) == 32
    assert best_size({16: rates[16]}) == 16
    assert best_size({}) is None


def test_a_slow_size_with_a_scattered_measurement_is_not_the_best() -> None:
    slow, fast = Rate(1, 1 / 500, 1 / 500, 4), Rate(64, 64 / 1000, 1e-4, 8)
    assert not differ(slow, fast)
    assert best_size({1: slow, 64: fast}) == 64


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


def test_a_size_has_a_text_for_each_column_and_a_mark_for_unknown_values() -> None:
    texts = dict(zip(SIZE_HEAD, size_cells(FITTING), strict=True))
    assert texts == {
        "Per replica": "1,024",
        "Global": "2,048",
        "Peak MiB": "~1,234",
        "Step ms": "10",
        "Examples/s": "3,200",
        "95 %": "3,000 to ?",
    }
    failing = size_cells(Trial(64, 128, fits=False, reason="it used 900 MiB"))
    assert failing == ["64", "128", "does not fit", "", "", ""]


def test_progress_names_the_current_size_or_rate() -> None:
    assert batch_progress(BatchProgress((), None, 1.0, None)) == "0 sizes tried"
    one = batch_progress(BatchProgress((FITTING,), 2048, 1.0, None))
    assert one == "1 size tried, 2,048 per replica now"
    assert rate_progress(RateProgress((), (), 150, 1.0, None)) == "0 of 150 steps"
    two = rate_progress(RateProgress((1e-7, 1e-6), (0.7, 0.7), 150, 1.0, None))
    assert two == "2 of 150 steps, learning rate 1.0e-06"


def test_runs_on_the_same_devices_are_named() -> None:
    said = beside_sentence(["one", "two"])
    assert said.startswith("one and two trained on the same devices meanwhile.")
