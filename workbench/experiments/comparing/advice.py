"""The recommended candidate of a comparison and the reason, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from workbench.catalog import STRATEGIES
from workbench.config import USUAL
from workbench.runs.folder.state import LIVE
from workbench.runs.made_of import WORK

from .intervals import FEWEST_REPEATS
from .rows import Group, Row
from .table import make_table

if TYPE_CHECKING:
    from workbench.interval import Interval

AS_FAST = 1.1
"""Two speeds count as equal if their ratio is certainly below this factor."""
FAR_BEHIND = 0.5
"""A candidate with less than this share of the best speed is slower, even after a single run."""
MOST_SPREAD = 2.0
"""An interval whose ends differ by more than this factor decides nothing."""
ONLY = "it is the only candidate that trained here."
ONLY_TOGETHER = "it is the only synchronous candidate that trained here."


@dataclass(frozen=True)
class Advice:
    """A recommendation. Without a group there is none, and the sentence gives the reason."""

    group: int | None
    sentence: str
    undecided: bool = False
    """Whether more runs of the same candidates would lead to a recommendation."""

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return asdict(self)


def more_repeats(repeats: int) -> int:
    """Return how many runs of each candidate are likely to decide what so many did not."""
    return max(FEWEST_REPEATS, 2 * repeats)


def recommend(groups: Sequence[Group]) -> Advice:
    """Recommend the simplest of the fastest groups that do the same work.

    A group is recommended if the 95 % intervals show that all others are slower, or as fast to
    within `AS_FAST`. Of groups that are as fast, the simplest is recommended: it has fewer
    replicas, then an earlier `place` in the catalogue, then the usual precision, then no
    compilation by XLA. If an interval leaves this open, the result is undecided.

    Groups with another model, data or batch do different work, so they are not ranked together:
    each kind of work with several groups has a sentence. Groups whose workers do not wait for each
    other train in another way, so only their speed is given. While requested runs are left, the
    sentence begins with "So far".

    Raises:
        RunError: a run's folder is missing or cannot be read.
    """
    rows = make_table(groups, with_losses=False).rows
    able = [at for at, row in enumerate(rows) if row.examples_per_second]
    if not able:
        return Advice(None, _without_speeds(groups))
    alike = [at for at in able if _synchronous(groups[at])] or able
    works: dict[tuple[str, ...], list[int]] = {}
    for at in alike:
        works.setdefault(rows[at].work, []).append(at)
    goes_on = any(map(_goes_on, groups))
    begin = "So far, " if goes_on else ""
    if len(works) > 1:
        parts = [
            f"With {_work(work, list(works))}, "
            + _among([groups[at] for at in members], ONLY).sentence
            for work, members in works.items()
            if len(members) > 1
        ]
        several = f"{begin}these candidates do different work, so they are not ranked together."
        return Advice(None, " ".join([_capital(several), *parts]))
    advice = _among([groups[at] for at in alike], ONLY if len(able) == 1 else ONLY_TOGETHER)
    chosen = None if advice.group is None else alike[advice.group]
    asides = [_aside(rows[at]) for at in able if at not in alike and _is_faster(rows, at, alike)]
    sentence = "".join([_capital(begin + advice.sentence), *asides])
    return Advice(chosen, sentence, advice.undecided and not goes_on)


def _among(groups: Sequence[Group], only: str) -> Advice:
    """Return the advice for groups that do the same work; its sentence begins in lower case.

    `only` is the reason for a single group.
    """
    if len(groups) == 1:
        return Advice(0, f"use {groups[0].label}: {only}")
    speeds = [row.examples_per_second or 0.0 for row in make_table(groups, with_losses=False).rows]
    fastest = speeds.index(max(speeds))
    rows = make_table(groups, fastest, with_losses=False).rows
    standings = {at: _standing(row) for at, row in enumerate(rows) if at != fastest}
    if open_ones := [rows[at] for at, standing in standings.items() if standing == "undecided"]:
        return Advice(None, _undecided(rows[fastest], open_ones), undecided=True)
    equal = [fastest, *(at for at, standing in standings.items() if standing == "as fast")]
    chosen = min(equal, key=lambda at: _simplicity(groups[at]))
    return Advice(chosen, f"use {rows[chosen].label}: {_reason(rows, chosen, fastest, equal)}")


def _standing(row: Row) -> Literal["slower", "as fast", "undecided"]:
    """Return what is known of a row's speed, compared with the fastest."""
    interval = row.speed_up_interval
    if (interval.high if interval else row.speed_up or 0.0) < FAR_BEHIND:
        return "slower"
    if interval is None or interval.high > MOST_SPREAD * interval.low:
        return "undecided"
    if interval.high < 1:
        return "slower"
    return "as fast" if interval.low > 1 / AS_FAST and interval.high < AS_FAST else "undecided"


def _reason(rows: Sequence[Row], chosen: int, fastest: int, equal: Sequence[int]) -> str:
    """Return the reason for a recommendation, given rows compared with the fastest."""
    if chosen != fastest:
        return (
            f"{rows[fastest].label} is less than {AS_FAST - 1:.0%} faster, and this one is "
            f"simpler; it has {_share(rows[chosen])} of the fastest speed."
        )
    others = [row for at, row in enumerate(rows) if at != chosen]
    runner_up = max(others, key=lambda row: row.examples_per_second or 0.0)
    slower = f"{runner_up.label} has {_share(runner_up)} of its speed"
    if len(equal) > 1:
        return f"it is the simplest and the fastest, by less than {AS_FAST - 1:.0%}; {slower}."
    return f"it is the fastest; {slower}."


def _undecided(fastest: Row, open_ones: Sequence[Row]) -> str:
    """Return that no candidate can be recommended yet, the reason, and what would decide it."""
    shares = ", ".join(f"{row.label} {_share(row)}" for row in open_ones)
    remedy = "More runs of each, or more steps in each run, narrow the intervals"
    if any(row.speed_up_interval is None for row in open_ones):
        remedy = f"An interval needs {FEWEST_REPEATS} runs of each"
    return (
        f"undecided: {fastest.label} was the fastest, but that may be chance. Share of its "
        f"speed: {shares}. {remedy}."
    )


def _work(work: tuple[str, ...], all_works: Sequence[tuple[str, ...]]) -> str:
    """Return in words what distinguishes a work from the others."""
    return ", ".join(
        f"{name} {value}"
        for at, (name, value) in enumerate(zip(WORK, work, strict=True))
        if len({each[at] for each in all_works}) > 1
    )


def _is_faster(rows: Sequence[Row], at: int, others: Sequence[int]) -> bool:
    """Return whether a row is faster than all others, whose examples are like its own."""
    return all(
        (rows[at].examples_per_second or 0.0) > (rows[other].examples_per_second or 0.0)
        and (rows[at].model, rows[at].data) == (rows[other].model, rows[other].data)
        for other in others
    )


def _aside(row: Row) -> str:
    return (
        f" {row.label} does {row.examples_per_second:,.0f} examples per second, but its workers do "
        "not wait for each other. It trains differently, so check its losses too."
    )


def _capital(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]


def _without_speeds(groups: Sequence[Group]) -> str:
    """Return that there is no recommendation, and why; with the remedy if a run failed."""
    if any(map(_goes_on, groups)):
        return "No recommendation yet: no candidate has a speed."
    labels: dict[str, list[str]] = {}
    for group in groups:
        labels.setdefault(_without_speed(group), []).append(group.label)
    reasons = [f"{', '.join(named)}: {reason}." for reason, named in labels.items()]
    failures = [run.failure for group in groups for run in group.runs]
    fixes = dict.fromkeys(failure.fix for failure in failures if failure)
    return " ".join(["No recommendation: no candidate has a speed.", *reasons, *fixes])


def _goes_on(group: Group) -> bool:
    """Return whether a group's speed may change: it trains, or waits for its turn."""
    return group.runs_left > 0 or any(run.status in LIVE for run in group.runs)


def _without_speed(group: Group) -> str:
    """Return why a group that does not go on has no speed, without a full stop."""
    if group.reason:
        return group.reason.rstrip(".")
    if not group.runs:
        return "its runs were deleted"
    run = group.runs[-1]
    if failure := run.failure:
        return failure.cause.rstrip(".")
    if run.status == "stopped":
        return "its run was stopped"
    return "its run was too short to measure its speed"


def _share(row: Row) -> str:
    interval: Interval | None = row.speed_up_interval
    around = f" (95 %: {interval.low:.0%} to {interval.high:.0%})" if interval else ""
    return f"{row.speed_up:.0%}{around}"


def _synchronous(group: Group) -> bool:
    return STRATEGIES[group.runs[0].plan.strategy].synchronous


def _simplicity(group: Group) -> tuple[int, int, bool, bool]:
    plan = group.runs[0].plan
    usual, place = plan.config.precision == USUAL.precision, STRATEGIES[plan.strategy].place
    return plan.num_replicas_in_sync, place, not usual, plan.config.xla
