"""The curves of a run as JSON, for charts of several runs."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.runs.records.kept import RunLines

from .actions import refusing

if TYPE_CHECKING:
    from workbench.points import Values
    from workbench.runs import Run

DIGITS = 7


def series_of(run: Run) -> dict[str, Any]:
    """Return columns with one value a point, over all replicas; null if a value is not known.

    The columns are step, examples, training_seconds, loss, accuracy and examples_per_second. The
    key steps_a_point has one number.

    Raises:
        RequestError: the run cannot be read.
    """
    with refusing():
        lines = RunLines(run.dir, run.plan).look()
    none = np.full(len(lines.step), np.nan)
    measures = (lines.loss, lines.accuracy, lines.rate)
    loss, accuracy, rate = (_known(each[0] if lines.synchronous else none) for each in measures)
    return {
        "step": _known(lines.step),
        "examples": _known(lines.examples),
        "training_seconds": _known(lines.training_seconds),
        "loss": loss,
        "accuracy": accuracy,
        "examples_per_second": rate,
        "steps_a_point": lines.steps_a_point,
    }


def _known(values: Values) -> list[float | None]:
    """Return plain numbers with the seven digits that a recorded number has."""
    with np.errstate(divide="ignore", invalid="ignore"):
        digits = DIGITS - 1 - np.floor(np.log10(np.abs(values)))
    scale = 10.0 ** np.where(np.isfinite(digits), digits.clip(-300, 300), 0.0)
    rounded = np.round(values * scale) / scale
    return [value if isfinite(value) else None for value in rounded.tolist()]
