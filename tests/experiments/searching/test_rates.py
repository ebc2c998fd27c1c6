"""Rates of blocks of steps: the coverage of intervals, and significant differences."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.experiments.searching.rates import Rate, best_size, differ
from workbench.experiments.student import student_t


@pytest.mark.parametrize(
    ("freedom", "expected"),
    [(1, 12.7062), (2, 4.3027), (3, 3.1824), (4, 2.7764), (9, 2.2622), (30, 2.0423), (1e3, 1.9623)],
)
def test_students_t_has_the_values_of_the_tables(freedom: float, expected: float) -> None:
    assert student_t(freedom) == pytest.approx(expected, abs=1e-3)


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
