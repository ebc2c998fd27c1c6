"""The parts of a step, from the times of whole steps and of steps without one part or another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.interval import Interval

from .estimates import Values, levels_of, of_levels, resamples

PARTS: Mapping[str, str] = {
    "input": "waiting for batches",
    "compute": "the model's own work, of the usual worker",
    "waiting": "waiting for the slowest worker",
    "communication": "summing gradients over the replicas",
    "host": "Python and the start of each call",
    "recording": "what the recorder does between calls, agreeing among workers included",
}
"""What a step is made of, in the order in which it is shown."""
WITHIN_COMPUTE: Mapping[str, str] = {
    "fixed": "the same for a batch of any size",
    "crowding": "more than one replica alone takes: they share cores or a device",
}


@dataclass(frozen=True)
class Part:
    """A part of a step, in seconds: what a step would save without it."""

    name: str
    seconds: Interval

    @property
    def shown_seconds(self) -> float:
        """Its estimate, where that is no less than nothing."""
        return max(0.0, self.seconds.value)


@dataclass(frozen=True)
class Pace:
    """How long a worker takes for a step in which it waits for no other."""

    task: str
    seconds: Interval
    compute_seconds: Interval


@dataclass(frozen=True)
class Breakdown:
    """Where a step's time goes, in seconds."""

    step: Interval
    parts: tuple[Part, ...]
    """Of `PARTS`, those that there can be."""
    within: tuple[Part, ...]
    """Of `WITHIN_COMPUTE`, those measured: each is a part of compute, and they may overlap."""
    paces: tuple[Pace, ...]
    """Of each worker, where there are several."""
    rounds: int
    unmeasured: Mapping[str, str]
    """Why a kind of step could not be timed."""

    @property
    def unexplained_seconds(self) -> float:
        """The step less its parts."""
        return self.step.value - sum(part.shown_seconds for part in self.parts)

    @property
    def sums_to_step(self) -> bool:
        """Whether the parts come to the step within 5 %."""
        return abs(self.unexplained_seconds) <= 0.05 * self.step.value

    def share(self, name: str) -> float:
        """Return a part's share of the step, 0 to 1; 0 where it was not measured."""
        for part in (*self.parts, *self.within):
            if part.name == name:
                return part.shown_seconds / self.step.value
        return 0.0

    def differs(self, name: str) -> bool:
        """Whether a part is more than nothing, as far as can be told."""
        found = [part for part in (*self.parts, *self.within) if part.name == name]
        return bool(found) and found[0].seconds.above_zero

    @property
    def slowest(self) -> Pace | None:
        """The worker that takes longest, where it differs from all others."""
        if len(self.paces) < 2:
            return None
        *others, last = sorted(self.paces, key=lambda pace: pace.seconds.value)
        return last if last.seconds.low > max(pace.seconds.high for pace in others) else None


def break_down(told: Sequence[Mapping[str, Any]]) -> Breakdown:
    """Return the parts of a step from what the program `step_times` told in each task.

    Each kind of step counts by the median of its rounds, which took turns; the parts are
    differences of these, and their intervals come from drawing rounds anew. With m steps in a call
    in memory and n in one of the run:

    - recording: timed within the whole step; of several workers that of the one that came last
    - host: (a step alone in a call - one of m) / (1 - 1/m) / n; where n is below m / 4, the whole
      step less recording - one with data of 4 n to m, for the data are handed to each call too
    - communication: in memory, with the sum - without it, of the slowest worker; but no more than
      the whole step less recording takes beyond the slowest worker's own pace, for to sum while
      its batches are made takes no time
    - waiting: with data, without the sum: the slowest worker - the median of the others
    - compute: in memory, without the sum: the median worker, or of two the faster one
    - input: the whole step - all of these
    """
    first = told[0]
    count = len(first["rounds"]["step"])
    drawn = resamples(count)
    levels = [
        {name: levels_of(values, drawn) for name, values in each["rounds"].items()} for each in told
    ]
    seconds = _parts(levels, first["block"]["steps"], first["steps_per_call"])
    return Breakdown(
        step=of_levels(seconds.pop("step")),
        parts=tuple(Part(name, of_levels(seconds[name])) for name in PARTS if name in seconds),
        within=tuple(
            Part(name, of_levels(values))
            for name, values in _within_compute(levels, first["batches"]).items()
        ),
        paces=tuple(
            Pace(each["task"], of_levels(own["alone"]), of_levels(own["compute"]))
            for each, own in zip(told, levels, strict=True)
            if "alone" in own
        ),
        rounds=count,
        unmeasured=first["unmeasured"],
    )


def joined(
    told: Sequence[Mapping[str, Any]], again: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return what each task told in two measurements as one, of the kinds that both timed."""
    return [
        {
            **second,
            "rounds": {
                name: [*first["rounds"][name], *values]
                for name, values in second["rounds"].items()
                if name in first["rounds"]
            },
        }
        for first, second in zip(told, again, strict=True)
    ]


def _parts(
    levels: Sequence[Mapping[str, Values]], steps: int, steps_per_call: int
) -> dict[str, Values]:
    """Return the step and its parts, each as levels."""
    longest = {name: np.max([each[name] for each in levels], axis=0) for name in levels[0]}
    found = {
        "step": longest["step"],
        "recording": np.min([each["recording"] for each in levels], axis=0),
        "compute": longest["memory"],
    }
    if "single" in longest:
        a_call = (longest["single"] - longest["memory"]) / (1 - 1 / steps)
        found["host"] = a_call / steps_per_call
    if "many" in longest:
        found["host"] = longest["step"] - found["recording"] - longest["many"]
    if "compute" in longest:
        found["compute"] = _usual(levels, "compute")
        found["communication"] = longest["memory"] - _slowest(levels, "compute")
    if "alone" in longest:
        own = _slowest(levels, "alone")
        beyond = np.maximum(found["step"] - found["recording"] - own, 0)
        found["communication"] = np.minimum(found["communication"], beyond)
        found["waiting"] = own - _usual(levels, "alone")
    rest = sum(values for name, values in found.items() if name != "step")
    return {**found, "input": found["step"] - rest}


def _slow(levels: Sequence[Mapping[str, Values]], name: str) -> int:
    """Return the worker that is slowest in all: in each draw it would always be somebody."""
    return int(np.argmax([each[name][0] for each in levels]))


def _slowest(levels: Sequence[Mapping[str, Values]], name: str) -> Values:
    return levels[_slow(levels, name)][name]


def _usual(levels: Sequence[Mapping[str, Values]], name: str) -> Values:
    """Return the median of all workers but the slowest."""
    slow = _slow(levels, "alone" if "alone" in levels[0] else name)
    others = [each[name] for at, each in enumerate(levels) if at != slow]
    usual: Values = np.median(others or [levels[0][name]], axis=0)
    return usual


def _within_compute(levels: Sequence[Mapping[str, Values]], batches: int) -> dict[str, Values]:
    """Return what of the computing is for no example, and what for others' being there.

    A batch k times as large takes fixed + k x (what grows), so fixed = (k x once - k times) over
    (k - 1).
    """
    found: dict[str, Values] = {}
    once = _usual(levels, "compute" if "compute" in levels[0] else "memory")
    if "batch" in levels[0]:
        fixed = (batches * once - _usual(levels, "batch")) / (batches - 1)
        found["fixed"] = np.minimum(fixed, once)
    if "solo" in levels[0]:
        found["crowding"] = once - _usual(levels, "solo")
    return found
