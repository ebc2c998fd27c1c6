"""The result of a search for a batch size: each trial, and the two answers."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from .rates import Rate

MIB = 2**20
Ended = Literal["memory", "data", "budget", "stopped"]


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
    """The largest size that fits, to a factor of `batch_search.NOTCH` if `ended` is memory."""
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
