"""Numbers as text that people can read; a missing number becomes `unknown`."""

from __future__ import annotations

import math

UNKNOWN = "unknown"
STEADY = "steady state: without the first call of each attempt and without the test passes"
"""The definition of a run's speed, for texts beside it; see `workbench.runs.records.speed`."""


def number(value: float | None, digits: int = 4) -> str:
    """Return a number as text, `unknown` if there is none."""
    if value is None or math.isnan(value):
        return UNKNOWN
    if isinstance(value, int) or (float(value).is_integer() and abs(value) >= 1000):
        return f"{int(value):,}"
    return f"{value:,.{digits}g}" if abs(value) < 1000 else f"{value:,.0f}"


def percent(share: float | None) -> str:
    """Return a share of one as a percentage, `unknown` if there is none."""
    return UNKNOWN if share is None or math.isnan(share) else f"{share:.2%}"


def byte_size(size: int | None) -> str:
    """Return a number of bytes in the unit that is easiest to read, `unknown` if there is none."""
    if size is None:
        return UNKNOWN
    amount = float(size)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if amount < 1024:
            whole = unit == "bytes" or amount >= 100
            return f"{int(amount)} {unit}" if whole else f"{amount:.3g} {unit}"
        amount /= 1024
    return f"{amount:.3g} TiB"


def duration(seconds: float | None) -> str:
    """Return a time span such as `3.1 s` or `3 min 20 s`, `unknown` if there is none."""
    if seconds is None or math.isnan(seconds):
        return UNKNOWN
    whole = max(0, round(seconds))
    if 0 < seconds < 10:
        return f"{seconds:.2g} s"
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def short_time(seconds: float) -> str:
    """Return a short time span in the unit that is easiest to read, such as `3.1 ms`."""
    if not seconds:
        return "0"
    for factor, unit in ((1.0, "s"), (1e3, "ms")):
        if abs(seconds) * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"
