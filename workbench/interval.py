"""A measured number with its 95 % interval, and Student's t for intervals of few repeats."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

CONFIDENCE = 0.95
SIMPSON_PARTS = 200
HALVINGS = 40


@dataclass(frozen=True)
class Interval:
    """An estimate and the ends of the 95 % confidence interval around it."""

    value: float
    low: float
    high: float

    def differs_from(self, value: float) -> bool:
        """Return whether a value is outside, so that chance does not explain the difference."""
        return not self.low <= value <= self.high

    @property
    def above_zero(self) -> bool:
        """Whether the interval is above 0."""
        return self.low > 0


@functools.cache
def student_t(freedom: float, confidence: float = CONFIDENCE) -> float:
    """Return Student's t of a two-sided confidence, for 1 degree of freedom or more.

    With t = sqrt(freedom) tan(angle) its density becomes a power of a cosine (Abramowitz and
    Stegun, 26.7.1). Simpson's rule integrates it, and bisection finds the angle.
    """
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)

    def within(angle: float) -> float:
        width = angle / SIMPSON_PARTS
        heights = [math.cos(part * width) ** (freedom - 1) for part in range(SIMPSON_PARTS + 1)]
        inner = 4 * sum(heights[1:-1:2]) + 2 * sum(heights[2:-1:2])
        return 2 * scale * float(heights[0] + inner + heights[-1]) * width / 3

    low, high = 0.0, math.pi / 2
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if within(middle) < confidence else (low, middle)
    return math.sqrt(freedom) * math.tan(low)
