"""A snapshot of a comparison: its rows with their numbers, and its progress."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.experiments import (
    Advice,
    Comparison,
    Group,
    Table,
    group_runs,
    groups_of,
    make_table,
    recommend,
    with_distinct_labels,
)
from workbench.experiments.comparing.goodput import noise_stamp
from workbench.experiments.comparing.table import comparable_losses
from workbench.runs import RunError
from workbench.runs.folder.state import LIVE

if TYPE_CHECKING:
    from workbench.runs import Run

GOING_ON = ("running", "stopping")
FIRST = ""
"""As a baseline, this means the first row with a speed."""


@dataclass(frozen=True)
class Snapshot:
    """The rows of the comparison, and below them rows of earlier runs, at one moment."""

    key: tuple[object, ...]
    """The values that table and advice depend on. With the same key, both are the same."""
    folder: Path | None
    """The folder of the comparison; None if there is none."""
    state: str
    """The state of the comparison; empty if there is none."""
    goes_on: bool
    """Whether the comparison or an added run goes on, so that the next snapshot may differ."""
    progress: str
    groups: list[Group]
    table: Table
    due: list[bool]
    """Which rows have a loss difference that is not in the table yet; see `LossDifferences`."""
    states: list[str]
    advice: Advice


def snapshot_of(
    comparison: Comparison | None,
    earlier: Sequence[Run],
    baseline: str,
    before: Snapshot | None,
) -> Snapshot:
    """Return the rows, numbers and advice of a comparison and of earlier runs.

    `baseline` is the label of a row, or `FIRST`. The snapshot `before` is used again if no run
    started, ended or went on since, and the baseline is the same. The advice recommends one of the
    comparison's runs. Earlier runs ran at other times, so one of them is recommended only if there
    is no comparison. The table has no loss differences, because they take long.

    Raises:
        RunError: a folder is missing or cannot be read.
    """
    state = comparison.state if comparison else ""
    stamps = {run.dir: stamp for run in earlier if (stamp := _stamp(run))}
    goes_on = state in GOING_ON or any(status in LIVE for _, status in stamps.values())
    compared = (comparison.folder, len(comparison.trials), comparison.ended) if comparison else ()
    own_runs = [comparison.run_folder(trial) for trial in comparison.trials] if comparison else []
    noise = tuple(map(noise_stamp, [*own_runs, *stamps]))
    key = (compared, state, tuple(stamps.items()), noise, baseline)
    if before is not None and before.key == key:
        groups, table, due, advice = before.groups, before.table, before.due, before.advice
    else:
        own = groups_of(comparison) if comparison else []
        groups = with_distinct_labels(
            [*own, *group_runs([run for run in earlier if run.dir in stamps])]
        )
        target = comparison.request.target_accuracy if comparison else None
        table = make_table(groups, _number_of(baseline, groups), target, with_losses=False)
        due = comparable_losses(table, groups)
        advice = recommend(own or groups)
    rows = len(comparison.request.candidates) if comparison else 0
    states = [
        _state(comparison, group) if comparison and at < rows else _state_of_added(group)
        for at, group in enumerate(groups)
    ]
    progress, folder = f"{_count(len(stamps))} compared.", None
    if comparison:
        folder = comparison.folder
        progress = f"{comparison.progress}. Runs: {folder}"
    return Snapshot(key, folder, state, goes_on, progress, groups, table, due, states, advice)


def _stamp(run: Run) -> tuple[int, str] | None:
    """Return values that change when a run goes on; None if it is missing or cannot be read."""
    try:
        return (run.dir / "events.jsonl").stat().st_mtime_ns, run.status
    except (OSError, RunError):
        return None


def _number_of(baseline: str, groups: Sequence[Group]) -> int | None:
    """Return the number of the row with this label, if the row has a speed."""
    for at, group in enumerate(groups):
        if group.label == baseline and any(run.status == "finished" for run in group.runs):
            return at
    return None


def _state(comparison: Comparison, group: Group) -> str:
    if not group.runs:
        return "" if group.reason else "waiting"
    done = sum(run.status == "finished" for run in group.runs)
    alive = [run for run in group.runs if run.status in LIVE]
    if alive:
        return f"{alive[-1].status}, {done} of {comparison.request.repeats} done"
    return f"{done} of {comparison.request.repeats} done"


def _state_of_added(group: Group) -> str:
    """Return the number of the added runs of a row, and of those that are not finished."""
    statuses = Counter(run.status for run in group.runs)
    alone = len(group.runs) == 1
    unfinished = [
        state if alone else f"{count} {state}"
        for state, count in statuses.items()
        if state != "finished"
    ]
    return ", ".join([_count(len(group.runs)), *unfinished])


def _count(runs: int) -> str:
    return "1 earlier run" if runs == 1 else f"{runs} earlier runs"
