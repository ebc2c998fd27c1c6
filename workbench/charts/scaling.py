"""A plotly figure of an example's remaining worth as the global batch grows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .style import (
    AXIS,
    LAYOUT,
    REPLICA_COLORS,
    REPLICA_DASHES,
    TEST_COLOR,
    TEXT_COLOR,
)

HEIGHT_PX = 360
POINTS = 200
SHADE = "rgba(47,129,247,0.18)"
Curve = tuple[int, float | None, float | None, float | None]
"""The trained steps, the noise scale at that step, and its interval's ends; None is unknown."""


def scaling_figure(curves: Sequence[Curve], global_batch_size: int) -> Any:
    """Return a plotly `Figure` of statistical efficiency against the global batch, on a log axis.

    Each point of training has a line, and the interval of the last one is shaded. The run's batch
    and the noise scale are marked. Unknown values are left out.
    """
    import plotly.graph_objects as go

    batches = _batches(curves, global_batch_size)
    _, scale, low, high = curves[-1]
    traces = _band(go, batches, low, high)
    for age, (step, examples, _, _) in reversed(list(enumerate(reversed(curves)))):
        if examples is not None:
            traces.append(_line(go, batches, step, examples, age))
    marks = [(float(global_batch_size), "this run", TEXT_COLOR)]
    marks += [(scale, "noise scale", TEST_COLOR)] if scale is not None else []
    return go.Figure(data=traces, layout=_layout(marks))


def _batches(curves: Sequence[Curve], batch: int) -> np.ndarray:
    """Return global batches from a tenth of the least known value to ten times the greatest.

    The known values are the run's batch, the noise scales and the ends of their intervals. No
    batch is below 1.
    """
    marked = [batch, *(each for _, *ends in curves for each in ends if each is not None)]
    return np.geomspace(max(1.0, min(marked) / 10), 10 * max(marked), POINTS)


def _line(go: Any, batches: np.ndarray, step: int, examples: float, age: int) -> Any:
    """Return the line of a point of training; the newest line, of age 0, stands out."""
    color = TEXT_COLOR if age else REPLICA_COLORS[0]
    dash = REPLICA_DASHES[age % len(REPLICA_DASHES)]
    return go.Scatter(
        x=batches, y=examples / (examples + batches),
        name=f"after {step:,} steps" if step else "first weights", mode="lines",
        line={"color": color, "width": 1 if age else 2, "dash": dash},
        hovertemplate="%{y:.0%}",
    )  # fmt: skip


def _band(go: Any, batches: np.ndarray, low: float | None, high: float | None) -> list[Any]:
    """Return the shaded interval; without an upper end it reaches up to an efficiency of 1."""
    if low is None:
        return []
    most = np.ones_like(batches) if high is None else high / (high + batches)
    edge: dict[str, Any] = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    name = "95 % interval" if high is not None else "95 %: at least"
    return [
        go.Scatter(x=batches, y=most, showlegend=False, **edge),
        go.Scatter(
            x=batches, y=low / (low + batches), name=name, fill="tonexty", fillcolor=SHADE, **edge
        ),
    ]


def _layout(marks: Sequence[tuple[float, str, str]]) -> dict[str, Any]:
    return {
        **LAYOUT,
        "height": HEIGHT_PX,
        "margin": {"l": 44, "r": 12, "t": 48, "b": 44},
        "hovermode": "x unified",
        "legend": {"orientation": "h", "x": 0, "y": 1.07, "yanchor": "bottom",
                   "traceorder": "normal"},
        "xaxis": {**AXIS, "type": "log", "title": {"text": "Examples per step (global batch)"}},
        "yaxis": {**AXIS, "range": [0, 1.02], "tickformat": ".0%",
                  "title": {"text": "Statistical efficiency"}},
        "shapes": [
            {"type": "line", "x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "paper",
             "line": {"color": color, "dash": "dash", "width": 1}}
            for x, _, color in marks
        ],
        "annotations": [
            {"text": f"{text}: {float(f'{x:.2g}') if text != 'this run' else x:,.0f}",
             "x": float(np.log10(x)), "y": 0.02 + 0.08 * number, "yref": "paper",
             "xanchor": "left", "yanchor": "bottom", "showarrow": False, "font": {"color": color}}
            for number, (x, text, color) in enumerate(marks)
        ],
    }  # fmt: skip
