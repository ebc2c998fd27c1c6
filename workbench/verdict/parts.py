"""The parts of a step, computed from the times of complete steps and of steps without some part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from workbench.interval import Interval

from .estimates import Values, levels_of, of_levels, resamples

PARTS: Mapping[str, str] = {
    "input": "waiting for batches",
    "compute": "the model's own work, on a typical worker",
    "waiting": "waiting for the slowest worker",
    "communication": "summing gradients over the replicas",
    "host": "Python and the start of each call",
    "recording": "recording between calls, and the agreement among workers",
}
"""The parts of a step with their meanings, in the order in which they are shown."""
WITHIN_COMPUTE: Mapping[str, str] = {
    "fixed": "the same for a batch of any size",
    "crowding": "extra time because replicas share cores or a device",
}
MOST_OVERLAP = 0.05
"""The largest overlap, as a share of the step, for which a measurement is not repeated."""


@dataclass(frozen=True)
class Part:
    """A part of a step: the seconds that a step would save without it, at least 0."""

    name: str
    seconds: Interval


@dataclass(frozen=True)
class Pace:
    """The time of a worker's step in which it waits for no other worker."""

    task: str
    seconds: Interval
    compute_seconds: Interval


@dataclass(frozen=True)
class Breakdown:
    """The parts of a step's time, in seconds."""

    step: Interval
    parts: tuple[Part, ...]
    """The parts of `PARTS` that this run has and that could be measured. They sum to the step."""
    within: tuple[Part, ...]
    """The measured parts of `WITHIN_COMPUTE`; each is a part of compute, and they may overlap."""
    overlap_seconds: float
    """The seconds by which the parts, timed one by one, exceeded the step.

    `parts` and `within` are scaled down by it. The upper ends of their intervals are not.
    """
    paces: tuple[Pace, ...]
    """The pace of each worker, if there are several workers."""
    rounds: int
    unmeasured: Mapping[str, str]
    """The reason for each kind of step that could not be timed."""

    @property
    def overlap_share(self) -> float:
        """The overlap as a share of the step."""
        return self.overlap_seconds / self.step.value

    @property
    def fits_step(self) -> bool:
        """Whether the parts, timed one by one, exceeded the step by at most 5 %."""
        return self.overlap_share <= MOST_OVERLAP

    def shares(self, name: str) -> Interval:
        """Return a part's share of the step, 0 to 1; 0 if the part was not measured."""
        for part in (*self.parts, *self.within):
            if part.name == name:
                return Interval(
                    *(min(1.0, each / self.step.value) for each in astuple(part.seconds))
                )
        return Interval(0.0, 0.0, 0.0)

    def share(self, name: str) -> float:
        """Return the estimate of a part's share of the step, 0 to 1."""
        return self.shares(name).value

    def differs(self, name: str) -> bool:
        """Return whether a part is significantly above 0."""
        return self.shares(name).above_zero

    @property
    def slowest(self) -> Pace | None:
        """The worker that takes longest; None if it does not differ from all others."""
        if len(self.paces) < 2:
            return None
        *others, last = sorted(self.paces, key=lambda pace: pace.seconds.value)
        return last if last.seconds.low > max(pace.seconds.high for pace in others) else None


def break_down(answers: Sequence[Mapping[str, Any]]) -> Breakdown:
    """Return the parts of a step from the answers of the program `step_times` in all tasks.

    Each kind of step is timed in rounds, in which the kinds take turns, and counts by its median.
    The parts are differences of these medians. Their intervals come from resampled rounds. A call
    with batches in memory has m steps; a call of the run has n steps.

    - recording: timed within the complete step. With several workers, the time of the worker that
      arrived last counts.
    - host: (a step that is a call - a step in a call of m) / (1 - 1/m) / n. If n is at most m / 4,
      it is the complete step without recording - a step with data in a call of 4 n to m steps. The
      reason is that each call also has to receive its data. Here the difference of each round
      counts, because the two are timed one after the other, at the same speed of the machine.
    - communication: in memory, a step with the sum - a step without it, of the slowest worker. With
      several workers it is at most (the complete step without recording - the slowest worker's own
      pace). The reason is that a sum that runs while the batches are made takes no extra time.
    - waiting: with data and without the sum, the slowest worker - the median of the others.
    - compute: in memory and without the sum, the median of all workers except the slowest. Of two
      workers, this is the faster one.
    - input: the complete step - all other parts.

    A difference below 0 counts as 0. The others then exceed the step and are scaled down to it.

    Raises:
        ValueError: there are fewer than six rounds.
    """
    first = answers[0]
    count = len(first["rounds"]["step"])
    drawn = resamples(count)
    levels = [
        {name: levels_of(values, drawn) for name, values in each["rounds"].items()}
        for each in answers
    ]
    saved = _saved_by_long_calls(answers)
    host = None if saved is None else levels_of(saved, drawn)
    timed = _parts(levels, host, first["block"]["steps"], first["steps_per_call"])
    step = timed.pop("step")
    positive = {name: np.maximum(values, 0.0) for name, values in timed.items()}
    total: Values = sum(positive.values(), np.zeros_like(step))

    def part(name: str, seconds: Values) -> Part:
        scaled, alone = of_levels(seconds * step / total), of_levels(seconds)
        return Part(name, Interval(scaled.value, scaled.low, alone.high))

    within = _within_compute(levels, first["batches"])
    return Breakdown(
        step=of_levels(step),
        parts=tuple(part(name, positive[name]) for name in PARTS if name in positive),
        within=tuple(
            part(name, np.clip(values, 0.0, positive["compute"])) for name, values in within.items()
        ),
        overlap_seconds=max(0.0, float(total[0] - step[0])),
        paces=tuple(
            Pace(each["task"], of_levels(own["alone"]), of_levels(own["compute"]))
            for each, own in zip(answers, levels, strict=True)
            if "alone" in own
        ),
        rounds=count,
        unmeasured=first["unmeasured"],
    )


def joined(
    answers: Sequence[Mapping[str, Any]], again: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return two measurements of each task joined to one, with the kinds that both timed."""
    return [
        {
            **second,
            "rounds": {
                name: [*first["rounds"][name], *values]
                for name, values in second["rounds"].items()
                if name in first["rounds"]
            },
        }
        for first, second in zip(answers, again, strict=True)
    ]


def _saved_by_long_calls(answers: Sequence[Mapping[str, Any]]) -> Values | None:
    """Return the seconds that a step saves in a long call, in each round; None if not timed."""
    rounds = [each["rounds"] for each in answers]
    if "many" not in rounds[0]:
        return None
    step, many = (np.max([each[name] for each in rounds], axis=0) for name in ("step", "many"))
    saved: Values = step - np.min([each["recording"] for each in rounds], axis=0) - many
    return saved


def _parts(
    levels: Sequence[Mapping[str, Values]], host: Values | None, steps: int, steps_per_call: int
) -> dict[str, Values]:
    """Return the step and its parts, each as levels; `host` is None if no long call was timed."""
    longest = {name: np.max([each[name] for each in levels], axis=0) for name in levels[0]}
    found = {
        "step": longest["step"],
        "recording": np.min([each["recording"] for each in levels], axis=0),
        "compute": longest["memory"],
    }
    if "single" in longest:
        a_call = (longest["single"] - longest["memory"]) / (1 - 1 / steps)
        found["host"] = a_call / steps_per_call
    if host is not None:
        found["host"] = host
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
    """Return the index of the worker that is slowest by the median of all rounds.

    The slowest worker is not chosen for each resample, because every resample has a slowest one.
    """
    return int(np.argmax([each[name][0] for each in levels]))


def _slowest(levels: Sequence[Mapping[str, Values]], name: str) -> Values:
    return levels[_slow(levels, name)][name]


def _usual(levels: Sequence[Mapping[str, Values]], name: str) -> Values:
    """Return the median of all workers except the slowest."""
    slow = _slow(levels, "alone" if "alone" in levels[0] else name)
    others = [each[name] for at, each in enumerate(levels) if at != slow]
    usual: Values = np.median(others or [levels[0][name]], axis=0)
    return usual


def _within_compute(levels: Sequence[Mapping[str, Values]], batches: int) -> dict[str, Values]:
    """Return the part of computing without any example, and the part caused by other replicas.

    A step on a batch k times as large takes T(k) = fixed + k x (the growing part). So fixed =
    (k x T(1) - T(k)) / (k - 1).
    """
    found: dict[str, Values] = {}
    once = _usual(levels, "compute" if "compute" in levels[0] else "memory")
    if "batch" in levels[0]:
        fixed = (batches * once - _usual(levels, "batch")) / (batches - 1)
        found["fixed"] = np.minimum(fixed, once)
    if "solo" in levels[0]:
        found["crowding"] = once - _usual(levels, "solo")
    return found
