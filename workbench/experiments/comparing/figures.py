"""Figures of groups of runs: their speeds, and their curves in one figure."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from workbench import charts
from workbench.charts.comparison import Along, Measure
from workbench.runs.records.cache import RunLines

from .rows import Group, Table


def speed_figure(table: Table) -> Any:
    """Return a plotly figure of the speeds of all rows that have one, with their intervals."""
    bars: list[charts.Bar] = []
    baseline = None
    for at, row in enumerate(table.rows):
        if row.examples_per_second is None:
            continue
        baseline = len(bars) if at == table.baseline else baseline
        around = row.examples_per_second_interval
        low, high = (around.low, around.high) if around else (None, None)
        bars.append(charts.Bar(row.label, row.examples_per_second, low, high))
    return charts.speed_figure(bars, baseline)


def curves_figure(groups: Sequence[Group], measure: Measure = "loss", along: Along = "step") -> Any:
    """Return a plotly figure of the curves of each group's first run.

    Raises:
        RunError: a run's folder is missing or cannot be read.
    """
    with ThreadPoolExecutor() as pool:  # NumPy sums records on all cores
        overlays = list(pool.map(_overlay, [group for group in groups if group.runs]))
    return charts.overlay_figure(overlays, measure, along)


def _overlay(group: Group) -> charts.Overlay:
    run = group.runs[0]
    return charts.Overlay(group.label, RunLines(run.dir, run.plan).read())
