"""The time to a target accuracy, over runs of which some may have missed the target."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .measures import Measures


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
