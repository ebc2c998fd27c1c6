"""The report of a benchmark: comparisons, figures and their limits."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 10_000
ALWAYS_MISSED = ", always: MISSED"
"""The end of the line of a missed limit that does not depend on speed."""


@dataclass(frozen=True)
class Comparison:
    """The ratio of two sides in every round that counts, and its limits."""

    name: str
    ratios: np.ndarray
    """One ratio per round, [rounds]."""
    at_least: float | None = None
    """The lower limit of the median; None: the median is only printed."""
    lower_bound_at_least: float | None = None
    """The lower limit of the lower end of the median's 95 % interval."""

    @property
    def median(self) -> float:
        return float(np.median(self.ratios))

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the median, by resampling the rounds with a fixed seed."""
        random = np.random.default_rng(0)
        drawn = random.choice(self.ratios, (RESAMPLES, len(self.ratios)))
        low, high = np.percentile(np.median(drawn, axis=1), [2.5, 97.5])
        return float(low), float(high)

    @property
    def reached(self) -> bool:
        low, _ = self.interval
        return (self.at_least is None or self.median >= self.at_least) and (
            self.lower_bound_at_least is None or low >= self.lower_bound_at_least
        )

    def __str__(self) -> str:
        low, high = self.interval
        first, third = np.percentile(self.ratios, [25, 75])
        wanted = "" if self.at_least is None else f"; at least {self.at_least:g}"
        if self.lower_bound_at_least is not None:
            wanted += f", lower end at least {self.lower_bound_at_least:g}"
        verdict = "" if not wanted else ": reached" if self.reached else ": MISSED"
        return (
            f"{self.name}: {self.median:.3f} times, 95 % [{low:.3f}, {high:.3f}], "
            f"quartiles [{first:.3f}, {third:.3f}], {len(self.ratios)} rounds{wanted}{verdict}"
        )


@dataclass(frozen=True)
class Limit:
    """The limit of a figure: a minimum or a maximum."""

    name: str
    unit: str
    at_least: float | None = None
    at_most: float | None = None
    always: bool = False
    """Whether every run of the benchmark must reach it, also a quick one on a busy machine.

    This is for counts and differences. Tests do not judge other limits, because they depend on
    speed, on memory, or on many rounds.
    """

    def judge(self, values: Sequence[float]) -> bool:
        """Print the median of the figure; return whether it reaches the limit."""
        value = statistics.median(values)
        low, high = min(values), max(values)
        reached = (self.at_least is None or value >= self.at_least) and (
            self.at_most is None or value <= self.at_most
        )
        bound = (
            f"at most {self.at_most:g}" if self.at_least is None else f"at least {self.at_least:g}"
        )
        bound += ", always" if self.always else ""
        verdict = "reached" if reached else "MISSED"
        spread = f" [{low:.4g}, {high:.4g}]" if len(values) > 1 else ""
        figure = f"{value:.4g} {self.unit}".rstrip()
        print_line(f"{self.name}: {figure}{spread}; {bound}: {verdict}")
        return reached


def print_line(line: object) -> None:
    """Print a line of the report."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def conclude(comparisons: list[Comparison]) -> int:
    """Print all comparisons; the exit status is 1 if one missed its limit."""
    for comparison in comparisons:
        print_line(comparison)
    return int(not all(comparison.reached for comparison in comparisons))
