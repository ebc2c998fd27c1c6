"""The curves of a run as a plotly figure and as a picture."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.points import EpochPoints, Points, Values

from .style import AXIS, LAYOUT, MEAN_COLOR, TEST_COLOR, TEXT_COLOR, line_style

HEIGHT_PX = 560
MOST_NAMED = 24
FEW_EPOCHS = 30
JOINED = "all: weighted mean (speed: sum)"
JOINED_LOOK: dict[str, Any] = {"mode": "lines", "line": {"color": MEAN_COLOR, "width": 1.5}}


@dataclass(frozen=True)
class Line:
    """One line of the figure: its name, the number of its chart (0, 1, 2), its points."""

    name: str
    chart: int
    x: Values
    y: Values
    style: dict[str, Any]
    in_legend: bool


def lines(points: Points, epochs: EpochPoints, *, virtual: bool) -> list[Line]:
    """Return all lines: first the lines of steps, chart by chart, then the lines of epochs."""
    made = []
    for chart, curve in enumerate(points.curves):
        for replica in range(points.replicas):
            style = line_style(replica)
            name = _name(points, replica, virtual=virtual)
            made.append(Line(name, chart, points.step, curve.mean[:, replica], style, chart == 0))
        if points.replicas > 1 and points.synchronous:
            made.append(Line(JOINED, chart, points.step, curve.joined, JOINED_LOOK, chart == 0))
    # If each worker has steps of its own, no step ends the epoch of all workers.
    return made + (_epoch_lines(epochs) if points.synchronous else [])


def _name(points: Points, replica: int, *, virtual: bool) -> str:
    if points.workers > 1:
        worker = replica // (points.replicas // points.workers)
        return f"worker {worker}, replica {replica}"
    return f"{'virtual replica' if virtual else 'replica'} {replica}"


def run_figure(points: Points, epochs: EpochPoints, *, virtual: bool) -> Any:
    """Return a plotly `Figure` of loss, accuracy and throughput."""
    import plotly.graph_objects as go

    traces = [_trace(go, line) for line in lines(points, epochs, virtual=virtual)]
    return go.Figure(data=traces, layout=_layout(points, virtual=virtual))


def warm_up() -> None:
    """Load the modules of the first picture early, because loading takes about a second."""
    picture(Points.none(1), EpochPoints(), virtual=False)


def _trace(go: Any, line: Line) -> Any:
    axis = "" if line.chart == 0 else str(line.chart + 1)
    return go.Scatter(
        x=line.x, y=line.y, name=line.name, legendgroup=line.name, showlegend=line.in_legend,
        xaxis=f"x{axis}", yaxis=f"y{axis}",
        hovertemplate="%{y:.4~g}", **line.style,
    )  # fmt: skip


def _epoch_lines(epochs: EpochPoints) -> list[Line]:
    size = 9 if len(epochs.step) <= FEW_EPOCHS else 4
    train = {
        "mode": "markers",
        "marker": {
            "symbol": "circle-open",
            "size": size,
            "color": MEAN_COLOR,
            "line": {"width": 2},
        },
    }
    test = {
        "mode": "lines+markers",
        "marker": {"symbol": "diamond", "size": size, "color": TEST_COLOR},
        "line": {"color": TEST_COLOR, "width": 1, "dash": "dot"},
    }
    rows = (
        ("train, whole epoch", 0, epochs.loss, train),
        ("test, after the epoch", 0, epochs.test_loss, test),
        ("train, whole epoch", 1, epochs.accuracy, train),
        ("test, after the epoch", 1, epochs.test_accuracy, test),
    )
    return [
        Line(name, chart, epochs.step, y, style, chart == 0)
        for name, chart, y, style in rows
        if np.isfinite(y).any()
    ]


def _step_title(points: Points) -> str:
    step = "step" if points.synchronous else "worker's own steps"
    if points.steps_a_point == 1:
        return step
    return f"{step} (each point is the mean of {points.steps_a_point:,} steps)"


def _titles(points: Points, *, virtual: bool) -> tuple[str, str, str]:
    rate = "Examples per second"
    why = "workers share a device" if points.workers > 1 else "virtual"
    return "Loss", "Accuracy", f"{rate} ({why})" if virtual else rate


def _layout(points: Points, *, virtual: bool) -> dict[str, Any]:
    titles = _titles(points, virtual=virtual)
    spots = ((0.0, 1.0), (0.55, 1.0), (0.0, 0.40))
    across = {**AXIS, "tickformat": "~s"}
    up = {**across, "tickformat": ".3~g"}
    return {
        **LAYOUT,
        "height": HEIGHT_PX,
        "margin": {"l": 44, "r": 12, "t": 48, "b": 44},
        "hovermode": "x unified",
        "legend": {"orientation": "h", "x": 0, "y": 1.07, "yanchor": "bottom"},
        "uirevision": "kept",
        "annotations": [_heading(text, *spot) for text, spot in zip(titles, spots, strict=True)],
        "xaxis": {**across, "domain": [0, 0.45], "anchor": "y"},
        "yaxis": {**up, "domain": [0.56, 1], "anchor": "x"},
        "xaxis2": {**across, "domain": [0.55, 1], "anchor": "y2", "matches": "x"},
        "yaxis2": {**up, "domain": [0.56, 1], "anchor": "x2"},
        "xaxis3": {**across, "anchor": "y3", "matches": "x",
                   "title": {"text": _step_title(points)}},
        "yaxis3": {**up, "domain": [0, 0.40], "anchor": "x3", "rangemode": "tozero",
                   "tickformat": "~s"},
    }  # fmt: skip


def _heading(text: str, x: float, y: float) -> dict[str, Any]:
    return {
        "text": f"<b>{text}</b>", "x": x, "y": y, "xref": "paper", "yref": "paper",
        "xanchor": "left", "yanchor": "bottom", "showarrow": False, "font": {"size": 13},
    }  # fmt: skip


def picture(points: Points, epochs: EpochPoints, *, virtual: bool) -> bytes:
    """Return the same charts as a PNG with a transparent background."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3.1), layout="constrained")
    panels = figure.subplots(1, 3)
    for line in lines(points, epochs, virtual=virtual):
        _draw_line(panels[line.chart], line)
    for panel, title in zip(panels, _titles(points, virtual=virtual), strict=True):
        _dress(panel, title)
    handles, names = panels[0].get_legend_handles_labels()
    if len(names) <= MOST_NAMED:
        figure.legend(
            handles, names, loc="outside lower center", ncols=4, frameon=False, fontsize=8,
            labelcolor=TEXT_COLOR,
        )  # fmt: skip
    buffer = io.BytesIO()
    FigureCanvasAgg(figure).print_png(buffer)  # type: ignore[no-untyped-call]
    return buffer.getvalue()


_MATPLOTLIB_DASHES = {
    "solid": "-", "dash": "--", "dot": ":", "dashdot": "-.", "longdash": (0, (7, 3)),
}  # fmt: skip


def _draw_line(panel: Any, line: Line) -> None:
    pen, marker = line.style.get("line", {}), line.style.get("marker", {})
    style: Any = _MATPLOTLIB_DASHES[pen.get("dash", "solid")]
    panel.plot(
        line.x, line.y, label=line.name,
        linestyle=style if "lines" in line.style["mode"] else "none",
        color=pen.get("color") or marker.get("color"), linewidth=pen.get("width", 1) * 0.8,
        marker={"circle-open": "o", "diamond": "D"}.get(marker.get("symbol")), markersize=4,
        markerfacecolor="none" if marker.get("symbol") == "circle-open" else None,
    )  # fmt: skip


def _dress(panel: Any, title: str) -> None:
    panel.set_title(title, fontsize=9, color=TEXT_COLOR, loc="left")
    panel.patch.set_alpha(0)
    panel.figure.patch.set_alpha(0)
    panel.grid(visible=True, color="#808080", alpha=0.25, linewidth=0.6)
    panel.tick_params(colors=TEXT_COLOR, labelsize=8, length=0)
    panel.ticklabel_format(axis="y", style="plain", useOffset=False)
    for spine in panel.spines.values():
        spine.set_visible(False)
