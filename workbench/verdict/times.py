"""Times with their intervals as text."""

from __future__ import annotations

from workbench.interval import Interval


def around(known: Interval) -> str:
    """Return a time with its interval as text."""
    return f"{seconds(known.value)} {between(known)}"


def between(known: Interval) -> str:
    """Return the 95 % interval of a time as text."""
    return f"[{seconds(known.low)}, {seconds(known.high)}]"


def seconds(value: float) -> str:
    """Return a time as text in the unit that is easiest to read."""
    if not value:
        return "0"
    for factor, unit in ((1.0, "s"), (1e3, "ms")):
        if abs(value) * factor >= 1:
            return f"{value * factor:.3g} {unit}"
    return f"{value * 1e6:.3g} µs"
