"""Texts about a measured step, for the terminal and for pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workbench.interval import Interval
from workbench.units import number

from .own_paces import OwnPace, slowest_of
from .parts import PARTS, WITHIN_COMPUTE, Breakdown, Part
from .trial import Trial
from .verdict import Verdict

OWN = (
    "Workers do not wait for each other, so there is no common step to measure. These times are "
    "the run's own records. They do not separate computing from the way to the parameter servers "
    "and back, so they suggest no change."
)
OWN_HEAD = ("worker", "a step", "waiting for its batch", "")
TRIAL_HEAD = ("", "run", "a step")
SLOWEST = "the slowest"


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
    return f"a step takes {around(found.step)}, in {found.rounds} rounds"


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
    known = part.seconds.above_zero
    if not known:
        most = max(0.0, part.seconds.high) / found.step.value
        meaning = f"does not differ from 0, at most {most:.1%}: {meaning}"
    return PartRow(
        name=part.name,
        within_compute=within_compute,
        time=seconds(part.shown_seconds),
        interval=between(part.seconds),
        share=found.share(part.name),
        known=known,
        meaning=meaning,
    )


def parts_sum(found: Breakdown) -> str:
    """Return a sentence on whether the sum of the parts equals the step."""
    text = f"Parts sum to {1 - found.unexplained_seconds / found.step.value:.1%} of the step"
    return text + ("." if found.sums_to_step else ": the rest is unexplained, so measure longer.")


def unmeasured(found: Breakdown) -> list[str]:
    """Return a sentence for each kind of step that could not be measured."""
    return [f"{name} could not be measured: {why}" for name, why in found.unmeasured.items()]


def paces(found: Breakdown) -> Iterator[str]:
    """Yield the time that each of several workers takes alone, and whether one is the slowest."""
    for pace in found.paces:
        mark = f", {SLOWEST}" if pace is found.slowest else ""
        yield f"{pace.task} alone: {around(pace.seconds)} a step{mark}"
    if found.paces and found.slowest is None:
        yield "No worker is significantly slower than all others."


def recorded(verdict: Verdict) -> str:
    """Return a sentence on whether the run itself recorded steps of similar length."""
    known, rate = verdict.recorded.step, verdict.recorded.examples_per_second
    speed = "" if rate is None else f"The run's speed is {number(rate)} examples per second. "
    if known is None:
        return f"{speed}The run recorded too few calls for a comparison."
    text = f"{speed}Within its calls, the run itself recorded {around(known)} a step"
    if verdict.agrees:
        return f"{text}, which agrees."
    return f"{text}, which does NOT agree: the machine had other work then, or has it now."


def own_pace_rows(found: Sequence[OwnPace]) -> list[tuple[str, ...]]:
    """Return a row for each worker that waits for nobody, with the columns `OWN_HEAD`."""
    slowest = slowest_of(found)
    return [
        (pace.task, around(pace.step), around(pace.input), SLOWEST if pace is slowest else "")
        for pace in found
    ]


def trial_rows(trial: Trial) -> list[tuple[str, ...]]:
    """Return a row for each side, with the columns `TRIAL_HEAD`."""
    return [
        ("before", trial.before, around(trial.before_step)),
        ("after", trial.after, around(trial.after_step)),
    ]


def around(known: Interval) -> str:
    """Return a time with its interval as text."""
    return f"{seconds(known.value)} {between(known)}"


def between(known: Interval) -> str:
    """Return the 95 % interval of a time as text."""
    return f"[{seconds(known.low)}, {seconds(known.high)}]"


def seconds(value: float) -> str:
    """Return a time as text in the unit that is easiest to read."""
    if not value:
        return "0"
    for factor, unit in ((1.0, "s"), (1e3, "ms")):
        if abs(value) * factor >= 1:
            return f"{value * factor:.3g} {unit}"
    return f"{value * 1e6:.3g} µs"
