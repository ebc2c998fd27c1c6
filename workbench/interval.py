"""A measured number with its 95 % interval."""

from __future__ import annotations

from dataclasses import dataclass


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
