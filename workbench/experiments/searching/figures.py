"""Plotly figures of a search for a batch size and of a learning-rate range test.

As in `charts`, backgrounds are transparent, and colours are visible on white and on near black.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from workbench.charts.style import (
    GRID_COLOR,
    MEAN_COLOR,
    REPLICA_COLORS,
    TEST_COLOR,
    TEXT_COLOR,
)

from .rate_curve import shown_losses

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .found_batch import Trial

HEIGHT_PX = 340
RATE_COLOR, PEAK_COLOR = REPLICA_COLORS[:2]


def batch_figure(
    trials: Sequence[Trial],
    largest: int | None = None,
    best: int | None = None,
    memory_limit_mib: int | None = None,
) -> Any:
    """Return a plotly `Figure` of throughput and peak memory over the per-replica batch size.

    Args:
        trials: the trials of a search, finished or not, by size.
        largest: the largest size that fits, drawn as a line; None: not known yet.
        best: the size of the best throughput, drawn as a line; None: not known yet.
        memory_limit_mib: drawn as a line; None: there is none.
    """
    import plotly.graph_objects as go

    fitting = [trial for trial in trials if trial.examples_per_second is not None]
    figure = go.Figure(layout=_layout("examples a replica in a step", "Examples per second"))
    figure.add_trace(
        go.Scatter(
            x=[trial.per_replica_batch_size for trial in fitting],
            y=[trial.examples_per_second for trial in fitting],
            error_y=_intervals(fitting),
            name="examples per second, 95 %",
            mode="lines+markers",
            line={"color": RATE_COLOR, "width": 1.5},
        )
    )
    figure.add_trace(
        go.Scatter(
            x=[trial.per_replica_batch_size for trial in fitting],
            y=[trial.peak_mib for trial in fitting],
            name="peak memory",
            yaxis="y2",
            mode="lines+markers",
            line={"color": PEAK_COLOR, "width": 1.5, "dash": "dash"},
        )
    )
    failing = [trial.per_replica_batch_size for trial in trials if not trial.fits]
    figure.add_trace(
        go.Scatter(
            x=failing,
            y=[0.0] * len(failing),
            name="does not fit",
            mode="markers",
            marker={"symbol": "x", "size": 9, "color": TEST_COLOR},
        )
    )
    peaks = {"title": {"text": "Peak memory, MiB"}, "overlaying": "y", "side": "right"}
    figure.update_layout(yaxis2={**peaks, "rangemode": "tozero", "showgrid": False})
    figure.update_yaxes(rangemode="tozero")
    if memory_limit_mib is not None:
        figure.add_hline(memory_limit_mib, yref="y2", line={"color": PEAK_COLOR, "dash": "dot"})
    _mark(figure, largest, "largest", 1.0)
    _mark(figure, best, "best", 0.1)
    return figure


def _intervals(trials: Sequence[Trial]) -> dict[str, Any]:
    """Return the ends of the intervals as distances; an unknown end is not drawn."""
    ends = [
        (
            each.examples_per_second or 0.0,
            each.examples_per_second_low,
            each.examples_per_second_high,
        )
        for each in trials
    ]
    return {
        "type": "data",
        "symmetric": False,
        "array": [None if high is None else high - rate for rate, _, high in ends],
        "arrayminus": [None if low is None else rate - low for rate, low, _ in ends],
        "color": RATE_COLOR,
        "thickness": 1,
    }


def rate_figure(
    rates: Sequence[float],
    losses: Sequence[float | None],
    smoothed: Sequence[float] = (),
    suggestion: float | None = None,
) -> Any:
    """Return a plotly `Figure` of the loss over the learning rate.

    Args:
        rates: one for each step.
        losses: raw, [steps]; None, a loss that is not finite, is a gap.
        smoothed: smoothed losses, at most as many as `losses`.
        suggestion: drawn as a line; None: there is none.
    """
    import plotly.graph_objects as go

    figure = go.Figure(layout=_layout("learning rate", "Loss"))
    raw = {"color": MEAN_COLOR, "width": 1}
    figure.add_trace(go.Scatter(x=rates, y=losses, name="each step", mode="lines", line=raw))
    line = {"color": RATE_COLOR, "width": 2}
    figure.add_trace(
        go.Scatter(x=rates[: len(smoothed)], y=smoothed, name="smoothed", mode="lines", line=line)
    )
    if smoothed:
        figure.update_yaxes(range=shown_losses(smoothed))
    _mark(figure, suggestion, "suggested", 1.0)
    return figure


def _mark(figure: Any, x: float | None, name: str, height: float) -> None:
    if x is None:
        return
    figure.add_vline(x, line={"color": TEST_COLOR, "width": 1, "dash": "dot"})
    # On a logarithmic axis a line takes the value, an annotation takes its logarithm.
    figure.add_annotation(
        x=math.log10(x), y=height, yref="paper", xanchor="left", yanchor="top", showarrow=False,
        text=f"{name}: {x:,g}",
    )  # fmt: skip


def _layout(across: str, up: str) -> dict[str, Any]:
    axis = {"gridcolor": GRID_COLOR, "zerolinecolor": GRID_COLOR, "linecolor": GRID_COLOR}
    return {
        "height": HEIGHT_PX,
        "autosize": True,
        "margin": {"l": 44, "r": 44, "t": 48, "b": 44},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": TEXT_COLOR, "size": 12},
        "hovermode": "x unified",
        "legend": {"orientation": "h", "x": 0, "y": 1.07, "yanchor": "bottom"},
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": TEXT_COLOR, "orientation": "h"},
        "xaxis": {**axis, "type": "log", "automargin": True, "title": {"text": across}},
        "yaxis": {**axis, "automargin": True, "title": {"text": up}},
    }
