"""What a search for a batch size has found: each trial, and the two answers."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from .rates import Rate

MIB = 2**20
Ended = Literal["memory", "data", "budget", "stopped"]


@dataclass(frozen=True)
class Trial:
    """One batch size, tried. None is unknown."""

    per_replica_batch_size: int
    global_batch_size: int
    fits: bool
    reason: str = ""
    """Why it does not fit."""
    peak_mib: float | None = None
    """Of the process that held most, or of the GPU; at least what a run of this size alone needs
    where smaller sizes were tried in the same process."""
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
    """By size."""
    largest_per_replica_batch_size: int | None
    """The largest that fits, to a factor of `batch_search.NOTCH` where memory is what `ended`."""
    best_per_replica_batch_size: int | None
    """The smallest whose examples a second do not differ significantly from the highest, and are
    at least nine tenths of it."""
    ended: Ended
    """What ended the search: memory, the data's size, the budget, or somebody."""
    reason: str
    """The same in a sentence."""
    num_replicas_in_sync: int
    memory_limit_mib: int | None
    """Of each process on a CPU, of each replica on GPUs; None: all there is of a GPU."""
    seconds: float
    beside: tuple[str, ...] = ()
    """The runs that trained on the same devices meanwhile."""

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        trials = [asdict(trial) for trial in self.trials]
        return {**asdict(self), "trials": trials, "beside": list(self.beside)}


@dataclass(frozen=True)
class BatchProgress:
    """How far a search is."""

    trials: tuple[Trial, ...]
    trying: int | None
    """The size under way, as far as it is known."""
    elapsed_seconds: float
    eta_seconds: float | None
    """None before the first trial has ended."""
    beside: tuple[str, ...] = ()
    """The runs that trained on the same devices meanwhile."""
