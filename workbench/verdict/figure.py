"""A chart of steps as stacked bars, which show the parts of each step's time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.charts.style import GRID_COLOR, MEAN_COLOR, REPLICA_COLORS, TEXT_COLOR

from .parts import PARTS, Breakdown

BAR_PX = 46
COLORS = dict(zip(PARTS, REPLICA_COLORS, strict=False))


def step_figure(steps: Mapping[str, Breakdown]) -> Any:
    """Return a plotly `Figure` with a bar in milliseconds for each step; `steps` has their labels.

    A part that does not differ from 0 is pale. The rest of a step, which its parts do not explain,
    is grey.
    """
    import plotly.graph_objects as go

    figure = go.Figure(layout=_layout(len(steps)))
    for name, meaning in PARTS.items():
        shown = {label: _part(found, name) for label, found in steps.items()}
        known = {label: part for label, part in shown.items() if part is not None}
        figure.add_bar(
            name=name,
            orientation="h",
            y=list(known),
            x=[1000 * part.shown_seconds for part in known.values()],
            customdata=[
                (f"{steps[label].share(name):.1%}", 1000 * part.seconds.low,
                 1000 * part.seconds.high)
                for label, part in known.items()
            ],
            marker={
                "color": COLORS[name],
                "opacity": [1.0 if part.seconds.above_zero else 0.35 for part in known.values()],
            },
            hovertemplate=f"{name}, {meaning}: %{{x:.4~g}} ms, %{{customdata[0]}}"
            " [%{customdata[1]:.3~g}, %{customdata[2]:.3~g}]<extra></extra>",
        )  # fmt: skip
    figure.add_bar(
        name="unexplained",
        orientation="h",
        y=list(steps),
        x=[1000 * max(0.0, found.unexplained_seconds) for found in steps.values()],
        marker={"color": MEAN_COLOR},
        hovertemplate="unexplained: %{x:.4~g} ms<extra></extra>",
    )
    return figure


def _part(found: Breakdown, name: str) -> Any:
    return next((part for part in found.parts if part.name == name), None)


def _layout(bars: int) -> dict[str, Any]:
    return {
        "barmode": "stack",
        "height": 130 + BAR_PX * bars,
        "margin": {"l": 44, "r": 12, "t": 40, "b": 44},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": TEXT_COLOR, "size": 12},
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom",
                   "traceorder": "normal"},
        "xaxis": {"title": {"text": "milliseconds of a step"}, "gridcolor": GRID_COLOR,
                  "zerolinecolor": GRID_COLOR, "rangemode": "tozero"},
        "yaxis": {"automargin": True, "autorange": "reversed", "type": "category"},
    }  # fmt: skip
