"""The recommended candidate of a comparison and the reason, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from workbench.catalog import STRATEGIES
from workbench.plan.applicable_fields import USUAL
from workbench.runs.folder.state import LIVE

from .rows import Group, Row
from .table import make_table

if TYPE_CHECKING:
    from workbench.interval import Interval

SIMPLEST_FIRST = (
    *("one_device", "default", "mirrored", "central_storage", "tpu"),
    *("multi_worker_mirrored", "parameter_server"),
)


@dataclass(frozen=True)
class Advice:
    """A recommendation. Without a group there is none, and the sentence gives the reason."""

    group: int | None
    sentence: str

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return asdict(self)


def recommend(groups: Sequence[Group]) -> Advice:
    """Recommend the simplest group that no other group is significantly faster than.

    Simpler means fewer replicas, then an earlier place in `SIMPLEST_FIRST`, then the usual
    precision, then no compilation by XLA. Groups whose workers do not wait for each other train in
    another way. Of these, only the speed is given. While requested runs are left, the sentence
    begins with "So far".

    Raises:
        RunError: a run's folder is missing or cannot be read.
    """
    speeds = {
        at: row.examples_per_second
        for at, row in enumerate(make_table(groups, with_losses=False).rows)
        if row.examples_per_second
    }
    alike = {at: speed for at, speed in speeds.items() if _steps_together(groups[at])} or speeds
    if not alike:
        return Advice(None, _without_speeds(groups))
    fastest = max(alike, key=lambda at: alike[at])
    rows = make_table(groups, fastest, with_losses=False).rows
    as_fast = [at for at in alike if at == fastest or rows[at].differs is False]
    chosen = min(as_fast, key=lambda at: _simplicity(groups[at]))
    others = [at for at in alike if at != chosen]
    reason = _reason(rows, chosen, fastest, others) if others else _alone(len(speeds))
    aside = "".join(
        f" {groups[at].label} does {speeds[at]:,.0f} examples per second, but its workers do not "
        "wait for each other. It trains in another way; its losses show whether it trains well."
        for at in speeds
        if at not in alike and speeds[at] > alike[chosen]
    )
    use = "So far, use" if any(map(_goes_on, groups)) else "Use"
    return Advice(chosen, f"{use} {groups[chosen].label}: {reason}{aside}")


def _without_speeds(groups: Sequence[Group]) -> str:
    """Return that there is no recommendation, and why; with the remedy if a run failed."""
    if any(map(_goes_on, groups)):
        return "No candidate has a speed yet, so there is no recommendation."
    labels: dict[str, list[str]] = {}
    for group in groups:
        labels.setdefault(_without_speed(group), []).append(group.label)
    reasons = [f"{', '.join(named)}: {reason}." for reason, named in labels.items()]
    failures = [run.failure for group in groups for run in group.runs]
    fixes = dict.fromkeys(failure.fix for failure in failures if failure)
    return " ".join(["No candidate has a speed, so there is no recommendation.", *reasons, *fixes])


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
    return "its run had too few steps for a steady speed"


def _reason(rows: Sequence[Row], chosen: int, fastest: int, others: Sequence[int]) -> str:
    """Return the reason for a recommendation, given rows compared with the fastest."""
    if chosen != fastest:
        share = _share(rows[chosen].speed_up, rows[chosen].speed_up_interval)
        return (
            f"{rows[fastest].label} is not significantly faster, and this one is simpler; it has "
            f"{share} of the fastest speed."
        )
    runner_up = max(others, key=lambda at: rows[at].examples_per_second or 0.0)
    row = rows[runner_up]
    slower = f"{row.label} has {_share(row.speed_up, row.speed_up_interval)} of its speed"
    if row.differs is None:
        return f"it is the fastest, but with so few runs this may be chance; {slower}."
    if not row.differs:
        return f"no other is significantly faster, and it is the simplest; {slower}."
    return f"it is the fastest; {slower}."


def _alone(speeds: int) -> str:
    """Return the reason for the only group that can be recommended, of so many with a speed."""
    if speeds == 1:
        return "it is the only candidate that trained here."
    return "of the candidates that trained here, it is the only one whose replicas step together."


def _share(value: float | None, interval: Interval | None) -> str:
    around = f" (95 %: {interval.low:.0%} to {interval.high:.0%})" if interval else ""
    return f"{value:.0%}{around}"


def _steps_together(group: Group) -> bool:
    return STRATEGIES[group.runs[0].plan.strategy].synchronous


def _simplicity(group: Group) -> tuple[int, int, bool, bool]:
    plan = group.runs[0].plan
    place = SIMPLEST_FIRST.index(plan.strategy)
    usual = plan.config.precision == USUAL.precision
    return plan.num_replicas_in_sync, place, not usual, plan.config.xla
