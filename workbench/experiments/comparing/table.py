"""A table of runs: a row for each group of alike runs, compared with a baseline."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Any

from workbench.experiments.agreement import compare_losses, losses_of
from workbench.runs import RunError
from workbench.runs.made_of import WORK

from .goodput import with_goodput
from .intervals import (
    FEWEST_REPEATS,
    median_target_seconds,
    rate_interval,
    ratio_interval,
    target_notes,
)
from .measures import Measures, measure
from .rows import Group, Row, Table

if TYPE_CHECKING:
    from workbench.plan import Plan
    from workbench.runs import Run

MEDIANS = (
    *("step_seconds_median", "step_seconds_p95", "peak_host_bytes", "peak_device_bytes"),
    *("loss", "accuracy", "test_loss", "test_accuracy", "training_seconds"),
)


def group_runs(runs: Sequence[Run]) -> list[Group]:
    """Return runs grouped by their script, in order; a group has the name of its first run."""
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(run.script, []).append(run)
    return with_distinct_labels([Group(_title(each[0]), tuple(each)) for each in found.values()])


def with_distinct_labels(groups: Sequence[Group]) -> list[Group]:
    """Return groups with different labels: the id of its first run is added to a repeated label."""
    apart: list[Group] = []
    for group in groups:
        alike = group.runs and group.label in [other.label for other in apart]
        apart.append(
            replace(group, label=f"{group.label} ({group.runs[0].id})") if alike else group
        )
    return apart


def make_table(
    groups: Sequence[Group],
    baseline: int | None = None,
    target_accuracy: float | None = None,
    *,
    with_losses: bool = True,
) -> Table:
    """Compare groups of runs.

    Args:
        groups: see `group_runs`, and `queueing.comparison.groups_of`.
        baseline: the number of the group that the others are compared with; None: the first group
            with a speed.
        target_accuracy: an accuracy for which the time to reach it is given.
        with_losses: whether losses are compared step by step. This reads every step of one run of
            each group. See `add_losses`.

    Raises:
        RunError: a run's folder is missing or cannot be read, or there is no such group.
    """
    if baseline is not None and not 0 <= baseline < len(groups):
        raise RunError(
            f"There is no row {baseline} to be the baseline. "
            f"Choose a row from 0 to {len(groups) - 1}."
        )
    measured = [[measure(run) for run in group.runs] for group in groups]
    rows = [
        _row(group, each, target_accuracy) for group, each in zip(groups, measured, strict=True)
    ]
    rows = with_goodput(rows, [group.runs for group in groups], measured)
    able = [at for at, row in enumerate(rows) if row.examples_per_second]
    at = baseline if baseline is not None else able[0] if able else None
    if at is not None:
        rates = [_rates(group, each) for group, each in zip(groups, measured, strict=True)]
        rows = [_against(row, rate, rows[at], rates[at])
                for row, rate in zip(rows, rates, strict=True)]  # fmt: skip
    table = Table(tuple(rows), at, tuple(_differences(measured)), target_accuracy)
    return add_losses(table, groups) if with_losses else table


def comparable_losses(table: Table, groups: Sequence[Group]) -> list[bool]:
    """Return which rows have the same steps as the baseline, so that their losses are compared."""
    none = [False] * len(groups)
    if table.baseline is None:
        return none
    base = groups[table.baseline]
    if not base.runs or base.runs[0].status != "finished":
        return none
    reference = base.runs[0].plan
    return [group is not base and _has_steps_like(group, reference) for group in groups]


def add_losses(table: Table, groups: Sequence[Group]) -> Table:
    """Return a table with the loss differences from the baseline, step by step.

    Raises:
        RunError: a run's folder is missing or cannot be read.
    """
    alike = comparable_losses(table, groups)
    if table.baseline is None or not any(alike):
        return table
    reference = losses_of(groups[table.baseline].runs[0])

    def with_losses(row: Row, group: Group, comparable: bool) -> Row:
        if not comparable:
            return row
        run = group.runs[0]
        found = compare_losses(losses_of(run), reference, run.config.precision)
        return replace(row, max_loss_difference=found.max_loss_difference)

    with ThreadPoolExecutor() as pool:  # NumPy sums records on all cores
        return replace(table, rows=tuple(pool.map(with_losses, table.rows, groups, alike)))


def _row(group: Group, measured: Sequence[Measures], target_accuracy: float | None) -> Row:
    """Return a row without the values that need a baseline."""
    done = [each for each in measured if each.status == "finished"]
    rates = [each.examples_per_second for each in done if each.examples_per_second]
    made: Mapping[str, Any] = measured[0].made_of if measured else {}
    row = Row(
        group.label,
        tuple(each.run for each in measured),
        tuple(each.status for each in measured),
        **{name: made[name] for name in WORK if name in made},
        replicas=measured[0].replicas if measured else None,
        global_batch_size=measured[0].global_batch_size if measured else None,
        examples_per_second=math.exp(sum(map(math.log, rates)) / len(rates)) if rates else None,
        examples_per_second_interval=rate_interval(rates),
        notes=tuple(_notes(group, measured, len(rates))),
    )
    medians: dict[str, Any] = {
        name: _median([getattr(each, name) for each in done]) for name in MEDIANS
    }
    row = replace(row, **medians)
    if target_accuracy is None or not done:
        return row
    return replace(
        row,
        target_seconds=median_target_seconds(done, target_accuracy),
        notes=(*row.notes, *target_notes(done, target_accuracy)),
    )


def _notes(group: Group, measured: Sequence[Measures], rates: int) -> list[str]:
    notes = [group.reason] if group.reason else []
    for state, count in (
        ("still running", sum(each.alive for each in measured)),
        ("stopped", sum(each.status == "stopped" for each in measured)),
        ("failed", sum(each.status in ("failed", "lost") for each in measured)),
    ):
        if count:
            notes.append(f"{count} of {len(measured)} {state}, not counted")
    if 0 < rates < FEWEST_REPEATS:
        notes.append(f"an interval needs {FEWEST_REPEATS} finished runs, there {_are(rates)}")
    return notes


def _are(count: int) -> str:
    return f"is {count}" if count == 1 else f"are {count}"


def _rates(group: Group, measured: Sequence[Measures]) -> dict[int, float]:
    """Return the speeds of the finished runs by round; runs without rounds get numbers below 0."""
    rounds = group.rounds or tuple(range(-len(measured), 0))
    return {
        at: each.examples_per_second
        for at, each in zip(rounds, measured, strict=True)
        if each.status == "finished" and each.examples_per_second
    }


def _against(row: Row, rates: dict[int, float], base: Row, others: dict[int, float]) -> Row:
    """Return a row compared with the baseline, round by round if both ran in turn."""
    alike = (row.model, row.data) == (base.model, base.data)
    if row is base or not row.examples_per_second or not base.examples_per_second or not alike:
        return replace(row, speed_up=1.0) if row is base and row.examples_per_second else row
    shared = sorted(at for at in rates.keys() & others.keys() if at >= 0)
    paired = len(shared) >= FEWEST_REPEATS
    mine = [rates[at] for at in shared] if paired else list(rates.values())
    theirs = [others[at] for at in shared] if paired else list(others.values())
    found = ratio_interval(mine, theirs, paired=paired)
    speed_up = found.value if found else row.examples_per_second / base.examples_per_second
    more = (row.replicas or 0) / (base.replicas or 1)
    return replace(
        row,
        speed_up=speed_up,
        speed_up_interval=found,
        scaling_efficiency=speed_up / more if more else None,
    )


def _has_steps_like(group: Group, reference: Plan) -> bool:
    if not reference.synchronous or not group.runs or group.runs[0].status != "finished":
        return False
    plan = group.runs[0].plan
    return plan.synchronous and plan.global_batch_size == reference.global_batch_size


def _differences(measured: Sequence[Sequence[Measures]]) -> list[str]:
    """Return notes on values that differ between runs and make their numbers hard to compare."""
    runs = [each for group in measured for each in group]
    return [
        f"{name} differs among these runs ({', '.join(values)}): {consequence}"
        for name, consequence in _SAME.items()
        if len(values := sorted({run.made_of[name] for run in runs})) > 1
    ]


_OTHER_WORK = "these runs do different work, so they are not ranked together"
_SAME = {
    **dict.fromkeys(WORK, _OTHER_WORK),
    "seed": "part of the difference in loss is chance",
    "learning rate": "part of the difference in loss comes from it",
    "precision": "part of the difference in loss is rounding",
    "XLA": "it rounds in another order, so losses agree only up to rounding",
}


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _title(run: Run) -> str:
    if run.name:
        return run.name
    plan = run.plan
    return f"{plan.strategy_label} on {plan.who_trains}, {plan.loop}"
