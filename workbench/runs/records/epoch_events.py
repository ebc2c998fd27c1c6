"""The values in the events of a run's epochs, as columns of numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.runs.folder.events import Event

from .segments import Doubles


def column_of(events: Sequence[Event], name: str) -> Doubles:
    """Return the value of each event under a name; NaN if it is unknown."""
    values = [event.get(name) for event in events]
    return np.array([np.nan if value is None else value for value in values], np.float64)


def metric_columns(epochs: Sequence[Event]) -> dict[str, Doubles]:
    """Return the metrics that a custom model was compiled with, [epochs], train next to test.

    Metrics that the workbench records itself, such as a known accuracy, are left out.
    """
    metrics = [epoch.get("metrics", {}) for epoch in epochs]
    recorded = {name for epoch in epochs for name, value in epoch.items() if value is not None}
    names = list(dict.fromkeys(name for each in metrics for name in each if name not in recorded))
    trained = {f"test_{name}": name for name in names}
    beside = sorted(names, key=lambda name: names.index(trained.get(name, name)))
    return {name: column_of(metrics, name) for name in beside}
