"""Intervals of rates and of their ratios, from repeats."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from workbench.experiments.student import student_t
from workbench.interval import Interval

FEWEST_REPEATS = 3
"""With two, Student's t is 12.7 and an interval tells nothing."""


def rate_interval(rates: Sequence[float]) -> Interval | None:
    """Return the geometric mean of rates above 0, one of each repeat, with its interval.

    What slows a machine multiplies a rate, so that the logarithms are taken to be normal; the
    interval is Student's. None: fewer than `FEWEST_REPEATS`.
    """
    if len(rates) < FEWEST_REPEATS:
        return None
    logs = np.log(rates)
    return _interval(float(logs.mean()), float(logs.var(ddof=1)) / len(logs), len(logs) - 1)


def ratio_interval(
    rates: Sequence[float], others: Sequence[float], *, paired: bool
) -> Interval | None:
    """Return how many times as high the rates are as the others, with its interval.

    `paired`: repeat by repeat, for repeats that ran one right after the other and share what the
    machine was doing then. Else it is Welch's interval, of repeats that share nothing (Welch
    1947, "The generalization of Student's problem"). None: fewer than `FEWEST_REPEATS` of one.

    Raises:
        ValueError: pairs of which one is missing.
    """
    if min(len(rates), len(others)) < FEWEST_REPEATS:
        return None
    if paired:
        if len(rates) != len(others):
            raise ValueError(f"pairs need as many of both; got {len(rates)} and {len(others)}")
        return rate_interval((np.array(rates) / np.array(others)).tolist())
    logs = [np.log(each) for each in (rates, others)]
    parts = [float(each.var(ddof=1)) / len(each) for each in logs]
    gap = float(logs[0].mean() - logs[1].mean())
    if not sum(parts):
        return _interval(gap, 0.0, 1)
    squares = sum(part**2 / (len(each) - 1) for part, each in zip(parts, logs, strict=True))
    return _interval(gap, sum(parts), math.floor(sum(parts) ** 2 / squares))


def _interval(mean: float, variance: float, freedom: int) -> Interval:
    """Return the interval of a mean of logarithms, on the scale of what they were taken of."""
    reach = student_t(freedom) * math.sqrt(variance) if variance else 0.0
    return Interval(math.exp(mean), math.exp(mean - reach), math.exp(mean + reach))
