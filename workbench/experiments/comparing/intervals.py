"""Intervals of rates, of their ratios and of the time to a target, from repeats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from workbench.interval import Interval, student_t

if TYPE_CHECKING:
    from workbench.experiments.comparing.measures import Measures

FEWEST_REPEATS = 3
"""With two repeats, Student's t is 12.7 and an interval is of no use."""


def rate_interval(rates: Sequence[float]) -> Interval | None:
    """Return the geometric mean of rates above 0, one of each repeat, with its interval.

    Slowdowns of a machine multiply a rate. So the logarithms are assumed to be normally
    distributed, and the interval is Student's. None if there are fewer rates than
    `FEWEST_REPEATS`.
    """
    if len(rates) < FEWEST_REPEATS:
        return None
    logs = np.log(rates)
    return _interval(float(logs.mean()), float(logs.var(ddof=1)) / len(logs), len(logs) - 1)


def ratio_interval(
    rates: Sequence[float], others: Sequence[float], *, paired: bool
) -> Interval | None:
    """Return the ratio of the rates to the others, with its interval.

    If `paired`, the ratio is taken repeat by repeat. This is for repeats that ran immediately after
    each other, and so share the conditions on the machine. If not, it is Welch's interval, for
    repeats that share nothing (Welch 1947, "The generalization of Student's problem"). None if
    there are fewer than `FEWEST_REPEATS` of one.

    Raises:
        ValueError: `paired` is true, and a rate of a pair is missing.
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
    """Return the interval of a mean of logarithms, on the scale of the original values."""
    reach = student_t(freedom) * math.sqrt(variance) if variance else 0.0
    return Interval(math.exp(mean), math.exp(mean - reach), math.exp(mean + reach))


def median_target_seconds(runs: Sequence[Measures], accuracy: float) -> float | None:
    """Return the median seconds of training to the target; a run that missed it takes longer.

    None if it is unknown: half of the runs or more missed the target, or the seconds of a run that
    reached it are unknown.
    """
    reached = [each.target_seconds(accuracy) for each in runs if each.reached(accuracy)]
    known = [seconds for seconds in reached if seconds is not None]
    missed = len(runs) - len(reached)
    if len(known) < len(reached) or len(reached) <= missed:
        return None
    return median([*known, *[math.inf] * missed])


def target_notes(runs: Sequence[Measures], accuracy: float) -> list[str]:
    """Return a note if a run missed the target."""
    reached = sum(each.reached(accuracy) for each in runs)
    if reached == len(runs):
        return []
    seldom = f"reached in {reached} of {len(runs)} finished runs" if reached else "never reached"
    return [f"{accuracy:.1%} was {seldom}"]
