"""The curves of a run as JSON, for charts of several runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.runs.records.live import LiveRun

from .actions import refusing

if TYPE_CHECKING:
    from workbench.points import Values
    from workbench.runs import Run


def series_of(run: Run) -> dict[str, Any]:
    """Return columns with one value a point, over all replicas; null if a value is not known.

    The columns are step, examples, training_seconds, loss, accuracy and examples_per_second. The
    key steps_a_point has one number.

    Raises:
        RequestError: the run cannot be read.
    """
    with refusing():
        live = LiveRun(run.dir, run.plan)
        live.poll()
    points = live.points()
    loss, accuracy, rate = (_known(curve.joined) for curve in points.curves)
    return {
        "step": _known(points.step),
        "examples": _known(points.examples),
        "training_seconds": _known(points.training_seconds),
        "loss": loss,
        "accuracy": accuracy,
        "examples_per_second": rate,
        "steps_a_point": points.steps_a_point,
    }


def _known(values: Values) -> list[float | None]:
    return [float(f"{value:.7g}") if np.isfinite(value) else None for value in values]
