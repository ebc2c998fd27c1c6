"""Estimates from repeated measurements, each with its 95 % interval."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from workbench.interval import Interval

Values = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

FEWEST = 6
"""The fewest measurements for a 95 % interval of a median.

With 5 measurements, the interval from the smallest to the largest covers only 93.75 %.
"""
RESAMPLES = 2000


def levels_of(rounds: Sequence[float] | Values, resampled: Ints) -> Values:
    """Return the median of all rounds and the median of each resample, [1 + resamples].

    Raises:
        ValueError: there are fewer than six rounds.
    """
    known = _enough(rounds)
    drawn: Values = np.median(known[resampled], axis=1)
    return np.concatenate([[np.median(known)], drawn])


def resamples(rounds: int) -> Ints:
    """Return the rounds drawn in each resample, [resamples, rounds], with a fixed seed."""
    return np.random.default_rng(0).integers(rounds, size=(RESAMPLES, rounds))


def of_levels(levels: Values) -> Interval:
    """Return the estimate of these levels with the 95 % interval of the percentile bootstrap.

    Efron and Tibshirani, An Introduction to the Bootstrap, chapter 13.
    """
    low, high = np.percentile(levels[1:], [2.5, 97.5])
    return Interval(float(levels[0]), float(low), float(high))


def median_of(values: Sequence[float] | Values) -> Interval:
    """Return the median with an interval that is valid for every distribution.

    The ends of the interval are the k-th smallest and the k-th largest of n values. k is the
    largest number for which a binomial variable of n and 1/2 is below k with a probability of at
    most 2.5 %. Source: Conover, Practical Nonparametric Statistics, 3rd edition, section 3.2.

    Raises:
        ValueError: there are fewer than six measurements.
    """
    ordered = np.sort(_enough(values))
    left_out = _ranks_left_out(len(ordered))
    low, high = float(ordered[left_out]), float(ordered[-1 - left_out])
    return Interval(float(np.median(ordered)), low, high)


def _enough(values: Sequence[float] | Values) -> Values:
    known = np.asarray(values, np.float64)
    if len(known) < FEWEST:
        raise ValueError(
            f"A 95 % interval needs {FEWEST} measurements; received {len(known)}. Measure longer."
        )
    return known


def _ranks_left_out(count: int) -> int:
    """Return the number of values outside the interval, on each side."""
    below, ranks = 0.0, 0
    while (below := below + math.comb(count, ranks) / 2**count) <= 0.025:
        ranks += 1
    return ranks - 1
