"""What a learning-rate range test has found: its curve, and what it says."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class RateTest:
    """The curve and what it says. None is unknown."""

    rates: tuple[float, ...]
    """As the optimizer had them."""
    losses: tuple[float | None, ...]
    """Of each step, the mean over all examples; None where it is not finite."""
    smoothed: tuple[float, ...]
    """The same smoothed (`rate_curve.smoothed`), as far as they are finite."""
    suggestion: float | None
    """The rate that the optimizer should have; None where the curve tells none."""
    learning_rate: float | None
    """The config's: the suggestion before it is scaled by the replicas."""
    minimum_rate: float | None
    reason: str
    """How the suggestion was read, or why there is none."""
    ended: Literal["highest", "diverged", "stopped"]
    steps: int
    """Asked for; as many were done as there are rates."""
    optimizer: str
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        names = ("rates", "losses", "smoothed")
        return {**asdict(self), **{name: list(getattr(self, name)) for name in names}}


@dataclass(frozen=True)
class RateProgress:
    """How far a test is."""

    rates: tuple[float, ...]
    losses: tuple[float | None, ...]
    steps: int
    elapsed_seconds: float
    eta_seconds: float | None
    """None before two steps are done; it may diverge sooner."""
