"""The goodput of compared groups: throughput times efficiency, where a noise scale was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.experiments.scaling import RESULT, SAME, goodputs, saved_scaling
from workbench.runs import RunError

if TYPE_CHECKING:
    from workbench.experiments.noise_scale import NoiseScale
    from workbench.runs import Run

    from .measures import Measures
    from .rows import Row


@dataclass(frozen=True)
class MeasuredNoise:
    """The newest noise scale of runs that train the same."""

    run: str
    """The id of the run in which it was measured."""
    noise: NoiseScale
    when: float
    """The time of its measurement, in seconds since 1970."""


def with_goodput(
    rows: Sequence[Row], runs: Sequence[Sequence[Run]], measured: Sequence[Sequence[Measures]]
) -> list[Row]:
    """Return the rows with their goodput, from the noise scales that were measured in their runs.

    A noise scale depends on the model, the data and the precision, not on the batch. So one
    measurement serves all rows that train the same. One that cannot be read is a note of its row.

    Args:
        rows: with their speeds.
        runs: the runs of each row.
        measured: the measures of these runs.
    """
    found: dict[tuple[str, ...], MeasuredNoise] = {}
    unreadable: list[tuple[str, ...]] = []
    for of_row, values in zip(runs, measured, strict=True):
        reasons = []
        for run, value in zip(of_row, values, strict=True):
            try:
                noise, key = noise_of(run), _key(value)
            except RunError as error:
                reasons.append(str(error).rstrip("."))
                continue
            if noise and (key not in found or noise.when > found[key].when):
                found[key] = noise
        unreadable.append(tuple(reasons))
    return [
        _with_goodput(
            replace(row, notes=(*row.notes, *reasons)),
            found.get(_key(values[0])) if values else None,
        )
        for row, values, reasons in zip(rows, measured, unreadable, strict=True)
    ]


def noise_of(run: Run) -> MeasuredNoise | None:
    """Return the noise scale that was measured in a run; None if there is none.

    Raises:
        RunError: it cannot be read.
    """
    when = noise_stamp(run.dir)
    kept = saved_scaling(run) if when is not None else None
    return None if kept is None or when is None else MeasuredNoise(run.id, kept.noise_scale, when)


def noise_stamp(run_dir: Path) -> float | None:
    """Return the time of a run's measurement in seconds since 1970; None if there is none."""
    try:
        return (run_dir / RESULT).stat().st_mtime
    except OSError:
        return None


def _with_goodput(row: Row, measured: MeasuredNoise | None) -> Row:
    batch, rate = row.global_batch_size, row.examples_per_second
    if measured is None or batch is None or rate is None:
        return row
    (found,) = goodputs(measured.noise, {row.label: (batch, rate)})
    if found.goodput_low is None:
        return row
    note = f"goodput by the noise scale of {measured.run} after {measured.noise.step:,} steps"
    return replace(
        row,
        goodput=found.goodput,
        goodput_low=found.goodput_low,
        goodput_high=found.goodput_high,
        notes=(*row.notes, note),
    )


def _key(measures: Measures) -> tuple[str, ...]:
    return tuple(measures.made_of[name] for name in SAME)
