"""Runs of the sides of a comparison in turn, in short segments, with the load of others."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import psutil

QUIET_SHARE = 0.1
"""A round counts as quiet if other processes take less than this share of the machine."""

Segment = Callable[[], float]
"""A function that runs a side for a moment and returns its rate; a higher rate is better."""


@dataclass(frozen=True)
class Rounds:
    """The rates of every side in the rounds that count."""

    rates: Mapping[str, np.ndarray]
    """A rate for each side and round, [rounds]."""
    quiet: int
    """The number of quiet rounds."""
    run: int
    """The number of all rounds. If too few were quiet, the quietest ones count."""


def alternate(sides: Mapping[str, Segment], rounds: int, warm_up_rounds: int = 5) -> Rounds:
    """Run all sides in each round, in alternating order, until enough rounds were quiet.

    Noise of the machine affects both sides of a round equally, so the ratio within a round is
    judged. There are at most twice as many rounds. Only the load of other processes decides which
    rounds count.
    """
    for _ in range(warm_up_rounds):
        for segment in sides.values():
            segment()
    rates, shares = [], []
    while len(rates) < 2 * rounds and sum(share < QUIET_SHARE for share in shares) < rounds:
        order = list(sides) if len(rates) % 2 else list(sides)[::-1]
        watch = _Watch()
        row = {name: sides[name]() for name in order}
        shares.append(watch.share_of_others())
        rates.append([row[name] for name in sides])
    quietest = np.sort(np.argsort(shares, kind="stable")[:rounds])
    counted = np.array(rates)[quietest]
    quiet = sum(share < QUIET_SHARE for share in shares)
    return Rounds(dict(zip(sides, counted.T, strict=True)), quiet, len(rates))


class _Watch:
    """A measurement of the share of processor time that other processes take."""

    def __init__(self) -> None:
        self.began, self.own, self.busy = time.perf_counter(), _own_seconds(), _busy_seconds()

    def share_of_others(self) -> float:
        others = _busy_seconds() - self.busy - (_own_seconds() - self.own)
        available = (time.perf_counter() - self.began) * (psutil.cpu_count() or 1)
        return max(0.0, others / available)


def _own_seconds() -> float:
    this = psutil.Process()
    sides = this.children(recursive=True)
    return sum(this.cpu_times()[:4]) + sum(sum(side.cpu_times()[:2]) for side in sides)


def _busy_seconds() -> float:
    times = psutil.cpu_times()
    idle = times.idle + getattr(times, "iowait", 0.0)
    # Linux also counts a guest's time as user time.
    return float(sum(times) - idle - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0))
