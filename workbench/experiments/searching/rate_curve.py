"""How a learning-rate range test is read: smoothing, divergence, the steepest descent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

BETA = 0.9
"""The weight of the past in the smoothed loss, so that it remembers about ten steps."""
MEMORY = round(1 / (1 - BETA))
DIVERGED = 4.0
"""A smoothed loss of more than this many times the best one has diverged."""
PART = 10
"""The first tenth of the steps shows where the loss begins and how it scatters. Lines through a
tenth of the steps show how steeply it falls."""
LEAST = 5
ERRORS = 4.0
"""A fall counts if it is more than this many standard errors."""
LEAST_FALL = 0.01
"""A fall must also be more than this share of the loss at the start."""


@dataclass(frozen=True)
class Reading:
    """The values read from a curve; None if the curve does not show them."""

    suggestion: float | None
    """The rate at which the loss falls fastest, to two digits."""
    minimum_rate: float | None
    """The rate at which the smoothed loss is lowest."""
    reason: str


def smoothed(losses: Sequence[float]) -> list[float]:
    """Return the exponential moving average of losses, corrected for its start at zero.

    As in Adam (Kingma and Ba, 2015, section 3): the average of the first n values is divided by
    1 - BETA^n.
    """
    values, average = [], 0.0
    for number, loss in enumerate(losses, start=1):
        average = BETA * average + (1 - BETA) * loss
        values.append(average / (1 - BETA**number))
    return values


def has_diverged(losses: Sequence[float]) -> bool:
    """Return whether the last loss is not finite, or smoothed over `DIVERGED` times the best.

    The first `MEMORY` - 1 values are not judged, because they are hardly smoothed yet. If the best
    loss is below zero, a multiple makes no sense; then a rise by the same amount counts.
    """
    if losses and not math.isfinite(losses[-1]):
        return True
    values = smoothed(losses)[MEMORY - 1 :]
    if not values:
        return False
    best = min(values)
    return values[-1] > best + (DIVERGED - 1) * abs(best)


def read_curve(rates: Sequence[float], losses: Sequence[float], steps: int) -> Reading:
    """Return the rate of steepest descent before the minimum (Smith 2017, section 3.3).

    The slope at a rate is the slope of a least-squares line over the logarithm of the rate. The
    line goes through the raw losses of a tenth of the steps around the rate, because the smoothed
    loss lags behind and would give a rate that is too high. The inspected rates begin where the
    smoothed loss leaves its start, and end where it is lowest.

    Args:
        rates: rising; one for each loss.
        losses: raw; only the last may be not finite.
        steps: the steps of the complete test; fewer were done if it diverged.
    """
    known = [loss for loss in losses if math.isfinite(loss)]
    first = max(LEAST, steps // PART)
    if len(known) < 2 * first:
        few = f"The loss diverged, or the test ended, after {len(known)} steps: too few to read"
        return Reading(None, None, f"{few} the curve. Start at a lower rate.")
    raw, smooth = np.array(known), np.array(smoothed(known))
    lowest = MEMORY - 1 + int(np.argmin(smooth[MEMORY - 1 :]))
    start, scatter = float(raw[:first].mean()), float(raw[:first].std(ddof=1))
    error = scatter * math.sqrt((1 - BETA) / (1 + BETA) + 1 / first)
    least = max(ERRORS * error, LEAST_FALL * abs(start))
    fall = start - float(smooth[lowest])
    if fall <= least:
        never = f"The loss never fell clearly: from {start:.4g} to {smooth[lowest]:.4g} at best."
        noise = f"Different batches alone can change it by {least:.2g}."
        return Reading(None, None, f"{never} {noise} Try higher rates, or check the data.")
    begin = int(np.flatnonzero(smooth[: lowest + 1] > start - least)[-1:].sum())
    steepest = _steepest(np.log10(rates[: len(raw)]), raw, begin, lowest, first | 1)
    rate, minimum = float(rates[steepest]), float(rates[lowest])
    reason = (
        f"The loss falls fastest at {rate:.2g} (least-squares lines through {first | 1} steps); "
        f"it is lowest at {minimum:.2g}."
    )
    return Reading(float(f"{rate:.2g}"), minimum, reason)


def shown_losses(smooth: Sequence[float]) -> tuple[float, float]:
    """Return the least and greatest loss that a figure of a curve shows.

    If the loss diverged, the raw loss would make the rest of the curve flat.
    """
    least, most = min(smooth), max(smooth[: max(1, len(smooth) // 2)])
    margin = 0.25 * max(most - least, 1e-9)
    return least - margin, most + 3 * margin


def _steepest(x: np.ndarray, y: np.ndarray, begin: int, end: int, width: int) -> int:
    """Return the step from `begin` to `end` whose line through its neighbours falls most."""
    half = width // 2
    places = range(max(begin, half), min(end, len(y) - 1 - half) + 1) or [min(end, len(y) - 1)]

    def slope(at: int) -> float:
        near = slice(max(0, at - half), at + half + 1)
        return float(np.polyfit(x[near], y[near], 1)[0])

    return min(places, key=slope)
