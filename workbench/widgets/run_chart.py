"""The live charts of a run: what changed goes to the page in blocks, the whole on request."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget
import numpy as np
import numpy.typing as npt

from workbench.charts import EpochPoints, Points

STATIC = Path(__file__).with_name("static")


class RunChart(anywidget.AnyWidget):
    """Draws in the page what `show` is given.

    Messages are numbered, because Jupyter drops some without a word when it is busy; a page that
    misses one, or is new, asks for the whole. Those of one view are harmless to others.
    """

    _esm = STATIC / "chart.js"
    _css = STATIC / "chart.css"

    def __init__(self, on_answer: Callable[[], None]) -> None:
        """`on_answer` is called when a page has drawn the view, empty, and asks for the points."""
        super().__init__()
        self._guard = threading.Lock()
        self._on_answer = on_answer
        self._sequence = 0
        self._shown: tuple[Points, EpochPoints, bool] | None = None
        self.on_msg(self._on_message)

    def show(self, points: Points, epochs: EpochPoints, *, virtual: bool) -> None:
        """Send the points that differ from those shown before."""
        with self._guard:
            before, self._shown = self._shown, (points, epochs, virtual)
            first = None if before is None else first_difference(before[0], points)
            self._tell(first)

    def _on_message(self, _: Any, content: dict[str, Any], __: Any) -> None:
        if content.get("kind") == "ready":
            with self._guard:
                if self._shown is not None:
                    self._tell(None)
            self._on_answer()

    def _tell(self, first: int | None) -> None:
        assert self._shown is not None
        points, epochs, virtual = self._shown
        start = first or 0
        self._sequence += 1
        header = {
            "kind": "points",
            "sequence": self._sequence,
            "whole": first is None,
            "from": start,
            "replicas": points.replicas,
            "virtual": virtual,
            "stepsAPoint": points.steps_a_point,
            "epochs": {
                "step": epochs.step.tolist(),
                "loss": _known(epochs.loss),
                "accuracy": _known(epochs.accuracy),
                "testLoss": _known(epochs.test_loss),
                "testAccuracy": _known(epochs.test_accuracy),
            },
        }
        steps = points.step[start:].astype("<f8").tobytes()
        self.send(header, [steps, rows(points)[:, start:].astype("<f4").tobytes()])


def rows(points: Points) -> npt.NDArray[np.float64]:
    """Return all lines as [chart * (replicas + 1) + line, points], the joined line last."""
    charts = (
        (points.loss, points.mean_loss),
        (points.accuracy, points.mean_accuracy),
        (points.rate, points.total_rate),
    )
    return np.concatenate([np.column_stack(chart) for chart in charts], axis=1).T


def first_difference(before: Points, after: Points) -> int | None:
    """Return the first point that is not as before; None where all of them are others."""
    if before.replicas != after.replicas or before.steps_a_point != after.steps_a_point:
        return None
    common = min(len(before.step), len(after.step))
    same = (before.step[:common] == after.step[:common]) & np.all(
        np.isclose(
            rows(before)[:, :common], rows(after)[:, :common], rtol=0, atol=0, equal_nan=True
        ),
        axis=0,
    )
    return int(np.argmin(same)) if not same.all() else common


def _known(values: npt.NDArray[np.float64]) -> list[float | None]:
    return [float(value) if np.isfinite(value) else None for value in values]
