"""Numbers from repeated measurements, each with its 95 % interval."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from workbench.interval import Interval

Values = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

FEWEST = 6
"""Measurements that a 95 % interval of a median needs: with 5, even all of them cover 93.75 %."""
RESAMPLES = 2000


def levels_of(rounds: Sequence[float] | Values, resampled: Ints) -> Values:
    """Return the median of all rounds, and that of each resample of them, [1 + resamples]."""
    known = _enough(rounds)
    drawn: Values = np.median(known[resampled], axis=1)
    return np.concatenate([[np.median(known)], drawn])


def resamples(rounds: int) -> Ints:
    """Return which rounds are drawn in each resample, [resamples, rounds]: with a fixed seed."""
    return np.random.default_rng(0).integers(rounds, size=(RESAMPLES, rounds))


def of_levels(levels: Values) -> Interval:
    """Return what was computed from the levels: the percentile bootstrap's 95 % interval.

    Efron and Tibshirani, An Introduction to the Bootstrap, chapter 13.
    """
    low, high = np.percentile(levels[1:], [2.5, 97.5])
    return Interval(float(levels[0]), float(low), float(high))


def median_of(values: Sequence[float] | Values) -> Interval:
    """Return the median, and the interval that holds whatever the distribution.

    Its ends are the k-th smallest and the k-th largest of n, with the largest k for which a
    binomial of n and 1/2 is below k with a probability of at most 2.5 % (Conover, Practical
    Nonparametric Statistics, 3rd edition, section 3.2).

    Raises:
        ValueError: fewer than six measurements.
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
    """Return how many of the smallest, and of the largest, lie outside the interval."""
    below, ranks = 0.0, 0
    while (below := below + math.comb(count, ranks) / 2**count) <= 0.025:
        ranks += 1
    return ranks - 1
