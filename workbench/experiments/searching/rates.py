"""A rate measured in blocks of steps: its interval, and whether two rates differ."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from workbench.experiments.student import student_t

LEAST_SHARE = 0.9


@dataclass(frozen=True)
class Rate:
    """The time of a step, from blocks of steps, all of the same batch."""

    examples_per_step: int
    step_seconds: float
    """The mean over all blocks together."""
    standard_error: float | None
    """The standard error of `step_seconds`; None for a single block."""
    blocks: int

    @classmethod
    def of(cls, examples_per_step: int, blocks: Iterable[Sequence[float]]) -> Rate:
        """Return the rate of blocks of [steps, seconds].

        The standard error is for a ratio of sums (Cochran, Sampling Techniques, 6.4).
        """
        measured = [(float(steps), float(seconds)) for steps, seconds in blocks]
        steps, count = sum(each for each, _ in measured), len(measured)
        mean = sum(seconds for _, seconds in measured) / steps
        error = None
        if count > 1:
            squares = sum((seconds - mean * own) ** 2 for own, seconds in measured)
            error = math.sqrt(squares * count / (count - 1)) / steps
        return cls(examples_per_step, mean, error, count)

    @property
    def examples_per_second(self) -> float:
        """Examples per second in the steady state."""
        return self.examples_per_step / self.step_seconds

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the examples per second, by Student's t; None for a single block."""
        if self.standard_error is None:
            return None
        margin = student_t(self.blocks - 1) * self.standard_error
        slowest, fastest = self.step_seconds + margin, max(self.step_seconds - margin, 0.0)
        most = math.inf if fastest == 0 else self.examples_per_step / fastest
        return self.examples_per_step / slowest, most


def differ(one: Rate, other: Rate) -> bool:
    """Return whether two rates differ at 5 %, by Welch's test on the seconds of an example.

    With a single block no test is possible. Then the rates differ if they are not equal.
    """
    gap = one.step_seconds / one.examples_per_step - other.step_seconds / other.examples_per_step
    if one.standard_error is None or other.standard_error is None:
        return gap != 0
    first = (one.standard_error / one.examples_per_step) ** 2
    second = (other.standard_error / other.examples_per_step) ** 2
    both = first + second
    if both == 0:
        return gap != 0
    freedom = both**2 / (first**2 / (one.blocks - 1) + second**2 / (other.blocks - 1))
    return abs(gap) > student_t(freedom) * math.sqrt(both)


def best_size(rates: Mapping[int, Rate]) -> int | None:
    """Return the smallest batch whose rate does not differ from the highest; None without rates.

    If measurements scatter, rates that do not differ significantly may still be far apart. So a
    rate of less than `LEAST_SHARE` of the highest rate always counts as different.
    """
    if not rates:
        return None
    highest = max(rates.values(), key=lambda rate: rate.examples_per_second)
    least = LEAST_SHARE * highest.examples_per_second
    return min(
        size
        for size, rate in rates.items()
        if rate is highest or (rate.examples_per_second >= least and not differ(rate, highest))
    )
