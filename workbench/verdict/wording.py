"""Texts about a measured step, for the terminal and for pages."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.interval import Interval
from workbench.units import number, short_time

from .parts import PARTS, WITHIN_COMPUTE, Breakdown, Part
from .recorded import WorkerSpeed, slowest_of
from .trial import Trial
from .verdict import Verdict

OWN = (
    "Workers do not wait for each other, so there is no common step to measure. These times are "
    "the run's own records. They do not separate computing from the exchange with the parameter "
    "servers, so they suggest no change."
)
OWN_HEAD = ("worker", "time per step", "waiting for its batch", "")
TRIAL_HEAD = ("", "run", "time per step")
SLOWEST = "the slowest"
LEAST_SHOWN = 0.0005
"""The smallest share that is not shown as 0.0%."""


@dataclass(frozen=True)
class PartRow:
    """The row of a part of a step; parts within compute come after the row of compute."""

    name: str
    within_compute: bool
    time: str
    interval: str
    share: float
    """The share of the step, 0 to 1."""
    known: bool
    """Whether it differs significantly from 0."""
    meaning: str


def step(found: Breakdown) -> str:
    """Return the time of a step as text."""
    return f"a step takes {_around(found.step)}, measured in {found.rounds} rounds"


def part_rows(found: Breakdown) -> Iterator[PartRow]:
    """Yield the rows of the parts in the order in which they are shown."""
    for part in found.parts:
        yield _part_row(found, part, PARTS[part.name])
        if part.name == "compute":
            for inner in found.within:
                yield _part_row(found, inner, WITHIN_COMPUTE[inner.name], within_compute=True)


def _part_row(
    found: Breakdown, part: Part, meaning: str, *, within_compute: bool = False
) -> PartRow:
    known, most = found.differs(part.name), found.shares(part.name).high
    if not known:
        limit = f"from 0 to {most:.1%} of the step" if most >= LEAST_SHOWN else "none found"
        meaning = f"{meaning}; {limit}"
    return PartRow(
        name=part.name,
        within_compute=within_compute,
        time=short_time(part.seconds.value),
        interval=between(part.seconds),
        share=found.share(part.name),
        known=known,
        meaning=meaning,
    )


def parts_sum(found: Breakdown) -> str:
    """Return how the parts add up to the step, and which overlap."""
    text = "The parts add up to the step"
    if found.overlap_share >= LEAST_SHOWN:
        text = (
            f"Timed one by one, the parts took {found.overlap_share:.1%} more than the step: some "
            "overlap, or the machine's speed changed. They are scaled down to add up to it"
        )
    if len(found.within) > 1:
        names = " and ".join(part.name for part in found.within)
        text += f"; {names} are within compute and can overlap"
    return f"{text}."


def unmeasured(found: Breakdown) -> list[str]:
    """Return a sentence for each kind of step that could not be measured."""
    return [f"{name} could not be measured: {why}" for name, why in found.unmeasured.items()]


def paces(found: Breakdown) -> Iterator[str]:
    """Yield the time that each of several workers takes alone, and whether one is the slowest."""
    for pace in found.paces:
        mark = f", {SLOWEST}" if pace is found.slowest else ""
        yield f"{pace.task} alone: {_around(pace.seconds)} per step{mark}"
    if found.paces and found.slowest is None:
        yield "No worker is significantly slower than all others."


def recorded(verdict: Verdict) -> str:
    """Return the run's speed, and what its calls took, for comparison with the measured step."""
    known, rate = verdict.recorded.step, verdict.recorded.examples_per_second
    speed = "" if rate is None else f"The run's speed is {number(rate)} examples per second. "
    if known is None:
        return f"{speed}The run recorded too few calls for a comparison."
    text = f"{speed}While it trained, the run's calls took {_around(known)} per step"
    return f"{text}, which agrees." if verdict.agrees else f"{text}."


def again(verdict: Verdict, run: str | Path) -> str:
    """Return the command that repeats the measurement for longer; `run` is an id or a folder."""
    return f"workbench why {shlex.quote(str(run))} --seconds {verdict.next_seconds:g}"


def worker_speed_rows(found: Sequence[WorkerSpeed]) -> list[tuple[str, ...]]:
    """Return a row for each worker that waits for nobody, with the columns `OWN_HEAD`."""
    slowest = slowest_of(found)
    return [
        (pace.task, _around(pace.step), _around(pace.input), SLOWEST if pace is slowest else "")
        for pace in found
    ]


def trial_rows(trial: Trial) -> list[tuple[str, ...]]:
    """Return a row for each side, with the columns `TRIAL_HEAD`."""
    return [
        ("before", trial.before, _around(trial.before_step)),
        ("after", trial.after, _around(trial.after_step)),
    ]


def _around(known: Interval) -> str:
    """Return a time with its interval as text."""
    return f"{short_time(known.value)} {between(known)}"


def between(known: Interval) -> str:
    """Return the 95 % interval of a time as text."""
    return f"[{short_time(known.low)}, {short_time(known.high)}]"
