"""The next batch size to try: doubling, then halving the gap on a geometric scale."""

from __future__ import annotations

import math

NOTCH = 1.25
"""The factor within which the largest batch is found."""
ROUND = 8
"""Between two sizes a multiple of this is chosen, because it suits arithmetic units and people."""


def doubling(most: int) -> list[int]:
    """Return 1, 2, 4, ... and `most`, the largest possible size."""
    sizes = [2**power for power in range(most.bit_length())]
    return sizes if sizes[-1] == most else [*sizes, most]


def next_size(fits: int | None, fails: int | None, most: int) -> int | None:
    """Return the size to try next; None if the largest is known to a factor of `NOTCH`.

    Args:
        fits: the largest size that fits so far; None: no size fits so far.
        fails: the smallest size that does not fit; None: there is none so far.
        most: the largest size that the data allows.
    """
    if fits is None:
        return 1 if fails is None else _between(1, fails) if fails > 1 else None
    if fails is None:
        return None if fits >= most else min(2 * fits, most)
    return None if fails <= max(fits * NOTCH, fits + 1) else _between(fits, fails)


def _between(low: int, high: int) -> int:
    """Return the geometric mean, rounded for large sizes; strictly between them if possible."""
    middle = math.sqrt(low * high)
    size = round(middle / ROUND) * ROUND
    if not low < size < high or high - low < 4 * ROUND:
        size = round(middle)
    return min(max(size, low + 1), high - 1) if high - low > 1 else low


def trials_left(fits: int | None, fails: int | None, most: int, expected: float | None) -> int:
    """Return about how many sizes are left to try; `expected`: the probable limit."""
    if fits is not None and fails is not None:
        gap = math.log(fails / fits) / math.log(NOTCH)
        return max(0, math.ceil(math.log2(gap))) if gap > 1 else 0
    top = most if expected is None else min(most, max(expected, fits or 1))
    doublings = math.ceil(math.log2(max(1.0, top / (fits or 1))))
    return doublings + (2 if top < most else 0)
