"""A number that was measured, with its 95 % interval."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    """An estimate and the ends of the 95 % confidence interval around it."""

    value: float
    low: float
    high: float

    def differs_from(self, value: float) -> bool:
        """Whether a value lies outside, so that chance does not explain the difference."""
        return not self.low <= value <= self.high

    @property
    def above_zero(self) -> bool:
        """Whether it differs from 0, upwards."""
        return self.low > 0
