"""Charts of compared runs: their speeds with intervals, and their curves in one chart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from workbench.points import Lines, Values

from .style import AXIS, LAYOUT, MEAN_COLOR, REPLICA_COLORS, line_style

EACH_ITS_OWN = "Asynchronous workers each have their own line and their own steps."
BAR_PX, FRAME_PX, OVERLAY_PX = 36, 90, 380
Measure = Literal["loss", "accuracy", "rate"]
Along = Literal["step", "examples", "training_seconds"]
TITLES = {
    "loss": "Loss",
    "accuracy": "Accuracy",
    "rate": "Examples per second",
    "step": "step",
    "examples": "examples seen",
    "training_seconds": "seconds of training",
}


@dataclass(frozen=True)
class Bar:
    """A speed in examples per second, with its 95 % interval if there is one."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Overlay:
    """The curves of one run."""

    label: str
    lines: Lines


def lines_of(run: Overlay, measure: Measure) -> list[tuple[str, Values]]:
    """Return the name and the values [points] of each line of a run; see `Lines`.

    Under ParameterServer each worker has one replica.
    """
    lines = list(getattr(run.lines, measure))
    if run.lines.synchronous:
        return [(run.label, line) for line in lines]
    return [(f"{run.label}, worker {worker}", line) for worker, line in enumerate(lines)]


def speed_figure(bars: Sequence[Bar], baseline: int | None = None) -> Any:
    """Return a plotly `Figure` of speeds, the first on top.

    A dotted line marks the speed of the bar with the number `baseline`.
    """
    import plotly.graph_objects as go

    trace = go.Bar(
        y=[bar.label for bar in bars],
        x=[bar.value for bar in bars],
        orientation="h",
        marker_color=[_color(at) for at in range(len(bars))],
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [(bar.high or bar.value) - bar.value for bar in bars],
            "arrayminus": [bar.value - (bar.low or bar.value) for bar in bars],
            "color": MEAN_COLOR,
        },
        hovertemplate="%{y}: %{x:,.0f} examples per second<extra></extra>",
    )
    layout = {
        **LAYOUT,
        "height": FRAME_PX + BAR_PX * len(bars),
        "margin": {"l": 44, "r": 12, "t": 36, "b": 44},
        "title": {"text": "Examples per second, 95 % interval", "x": 0, "font": {"size": 13}},
        "xaxis": {**AXIS, "tickformat": "~s", "rangemode": "tozero"},
        "yaxis": {**AXIS, "autorange": "reversed"},
    }
    figure = go.Figure(data=[trace], layout=layout)
    if baseline is not None:
        figure.add_vline(x=bars[baseline].value, line_dash="dot", line_color=MEAN_COLOR)
    return figure


def overlay_figure(
    runs: Sequence[Overlay], measure: Measure = "loss", along: Along = "step"
) -> Any:
    """Return a plotly `Figure` of one measure of several runs, over all replicas of each.

    If a run's workers are asynchronous, each worker has a line in the colour of its run.
    """
    import plotly.graph_objects as go

    traces = [
        go.Scatter(
            x=getattr(run.lines, along),
            y=line,
            name=name,
            legendgroup=run.label,
            hovertemplate="%{y:.4~g}",
            **line_style(at, width=1.5),
        )
        for at, run in enumerate(runs)
        for name, line in lines_of(run, measure)
    ]
    layout = {
        **LAYOUT,
        "height": OVERLAY_PX,
        "margin": {"l": 44, "r": 12, "t": 36, "b": 44},
        "title": {"text": TITLES[measure], "x": 0, "font": {"size": 13}},
        "hovermode": "x unified",
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "xaxis": {**AXIS, "tickformat": "~s", "title": {"text": TITLES[along]}},
        "yaxis": {**AXIS, "tickformat": ".3~g"},
    }
    return go.Figure(data=traces, layout=layout)


def _color(number: int) -> str:
    return REPLICA_COLORS[number % len(REPLICA_COLORS)]
