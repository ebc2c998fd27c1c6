"""The result of a learning-rate range test: its curve, and the reading of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class RateTest:
    """The curve and the reading of it. None is unknown."""

    rates: tuple[float, ...]
    """The rates that the optimizer had."""
    losses: tuple[float | None, ...]
    """The loss of each step, the mean over all examples; None if it is not finite."""
    smoothed: tuple[float, ...]
    """The finite losses, smoothed (`rate_curve.smoothed`)."""
    suggestion: float | None
    """The rate that the optimizer should have; None if the curve shows none."""
    learning_rate: float | None
    """The config's rate: the suggestion before it is scaled by the replicas."""
    minimum_rate: float | None
    reason: str
    """How the suggestion was found, or why there is none."""
    ended: Literal["highest", "diverged", "stopped"]
    steps: int
    """The requested steps; the number of done steps is the number of rates."""
    optimizer: str
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        names = ("rates", "losses", "smoothed")
        return {**asdict(self), **{name: list(getattr(self, name)) for name in names}}


@dataclass(frozen=True)
class RateProgress:
    """The progress of a test."""

    rates: tuple[float, ...]
    losses: tuple[float | None, ...]
    steps: int
    elapsed_seconds: float
    eta_seconds: float | None
    """None before two steps are done; the test may diverge sooner."""
