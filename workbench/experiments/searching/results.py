"""What the finders try and what they find, in numbers and in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from workbench.catalog import COMPILED
from workbench.experiments.searching.watched import MIB
from workbench.interval import student_t

LEAST_SHARE = 0.9
NOTCH = 1.25
"""The factor within which the largest batch is found."""
ROUND = 8
"""Between two sizes a multiple of this is chosen, because it suits arithmetic units and people."""
Ended = Literal["memory", "data", "budget", "stopped"]
SIZE_HEAD = ("Per replica", "Global", "Peak MiB", "Step ms", "Examples/s", "95 %")
NO_FIT = "does not fit"


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


def doubling(most: int) -> list[int]:
    """Return 1, 2, 4, ... and `most`, the largest possible size."""
    sizes = [2**power for power in range(most.bit_length())]
    return sizes if sizes[-1] == most else [*sizes, most]


def next_size(fits: int | None, fails: int | None, most: int) -> int | None:
    """Return the size to try next; None if the largest is known to a factor of `NOTCH`.

    Sizes are doubled until one fails; then the gap is halved on a geometric scale.

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


@dataclass(frozen=True)
class Trial:
    """One batch size that was tried. None is unknown."""

    per_replica_batch_size: int
    global_batch_size: int
    fits: bool
    reason: str = ""
    """Why it does not fit."""
    peak_mib: float | None = None
    """The peak of the process that held most, or of the GPU. If smaller sizes were tried in the
    same process, a run of this size alone may need less."""
    alone: bool = True
    """Whether the process was for this size only."""
    step_seconds: float | None = None
    examples_per_second: float | None = None
    """Of all replicas, in the steady state."""
    examples_per_second_low: float | None = None
    """The lower end of the 95 % interval."""
    examples_per_second_high: float | None = None

    @classmethod
    def of(cls, size: int, peak_bytes: int, rate: Rate, *, alone: bool) -> Trial:
        """Return a trial that fits."""
        low, high = rate.interval or (None, None)
        return cls(
            per_replica_batch_size=size,
            global_batch_size=rate.examples_per_step,
            fits=True,
            peak_mib=peak_bytes / MIB,
            alone=alone,
            step_seconds=rate.step_seconds,
            examples_per_second=rate.examples_per_second,
            examples_per_second_low=low,
            examples_per_second_high=None if high is None or math.isinf(high) else high,
        )


@dataclass(frozen=True)
class FoundBatch:
    """The curve and the two answers. None is unknown."""

    trials: tuple[Trial, ...]
    """All trials, by size."""
    largest_per_replica_batch_size: int | None
    """The largest size that fits, to a factor of `NOTCH` if `ended` is memory."""
    best_per_replica_batch_size: int | None
    """The smallest whose examples per second do not differ significantly from the highest, and are
    at least nine tenths of it."""
    ended: Ended
    """The reason of the end: memory, the data's size, the budget, or a stop by the user."""
    reason: str
    """The same in a sentence."""
    num_replicas_in_sync: int
    memory_limit_mib: int | None
    """Of each process on a CPU, of each replica on GPUs; None: all memory of a GPU."""
    seconds: float
    beside: tuple[str, ...] = ()
    """The folders of the runs that trained on the same devices meanwhile."""

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        trials = [asdict(trial) for trial in self.trials]
        return {**asdict(self), "trials": trials, "beside": list(self.beside)}


@dataclass(frozen=True)
class BatchProgress:
    """The progress of a search."""

    trials: tuple[Trial, ...]
    trying: int | None
    """The current size, as far as it is known."""
    elapsed_seconds: float
    eta_seconds: float | None
    """None before the first trial has ended."""
    beside: tuple[str, ...] = ()
    """The folders of the runs that trained on the same devices meanwhile."""


@dataclass(frozen=True)
class RateTest:
    """The curve and the reading of it. None is unknown."""

    rates: tuple[float, ...]
    """The rates that the optimizer had."""
    losses: tuple[float | None, ...]
    """The loss of each step, the mean over all examples; None if it is not finite."""
    smoothed: tuple[float, ...]
    """The finite losses, smoothed (`rate_test.smoothed`)."""
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


def size_cells(trial: Trial) -> list[str]:
    """Return a text for each column of `SIZES`; empty is unknown."""
    sizes = [f"{trial.per_replica_batch_size:,}", f"{trial.global_batch_size:,}"]
    rate, seconds, peak = trial.examples_per_second, trial.step_seconds, trial.peak_mib
    if not trial.fits or rate is None or seconds is None or peak is None:
        return [*sizes, NO_FIT, "", "", ""]
    low, high = trial.examples_per_second_low, trial.examples_per_second_high
    interval = "" if low is None else f"{low:,.0f} to {'?' if high is None else f'{high:,.0f}'}"
    at_most = "" if trial.alone else "~"
    return [*sizes, f"{at_most}{peak:,.0f}", f"{1000 * seconds:,.3g}", f"{rate:,.0f}", interval]


def batch_progress(progress: BatchProgress) -> str:
    """Return the progress of a search for a batch size, in words."""
    now = "" if progress.trying is None else f", {progress.trying:,} per replica now"
    return f"{sizes_tried(progress.trials)}{now}"


def sizes_tried(trials: Sequence[Trial]) -> str:
    """Return how many sizes were tried, in words."""
    return f"{len(trials)} size{'s' * (len(trials) != 1)} tried"


def rate_progress(progress: RateProgress) -> str:
    """Return the progress of a learning-rate range test, in words."""
    now = f", learning rate {progress.rates[-1]:.1e}" if progress.rates else ""
    return f"{len(progress.rates)} of {progress.steps} steps{now}"


def batch_sentences(found: FoundBatch) -> list[str]:
    """Return the reason of a search's end, and the notes on its table."""
    sentences = [found.reason]
    if found.memory_limit_mib is not None:
        sentences.append(f"The memory limit was {found.memory_limit_mib:,} MiB.")
    if any(trial.fits and not trial.alone for trial in found.trials):
        sentences.append("~ means at most: smaller sizes were tried earlier in the same process.")
    return sentences


def beside_sentence(runs: Sequence[str]) -> str:
    """Return how other runs on the same devices affect the measurements."""
    trained = f"{' and '.join(runs)} trained on the same devices meanwhile"
    return f"{trained}. On free devices, a larger size may fit, and every size is faster."


def rate_sentences(test: RateTest) -> list[str]:
    """Return how a test ended, the reading of its curve, and where to change a compiled rate."""
    sentences = []
    if test.ended == "diverged":
        sentences.append(f"The loss diverged at {test.rates[-1]:.2g}.")
    sentences.append(test.reason)
    if test.learning_rate is not None and test.optimizer == COMPILED:
        sentences.append(f"Compile your model's optimizer with learning_rate={test.suggestion:g}")
    return sentences
