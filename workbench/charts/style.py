"""The colours and layouts that all figures share."""

from __future__ import annotations

from typing import Any

REPLICA_COLORS = (
    "#2f81f7", "#d9730d", "#1a9c5b", "#c23fb3", "#0e9aa7", "#b58900", "#e0484f", "#7f6df2",
)  # fmt: skip
REPLICA_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
MEAN_COLOR = "#7a828c"
TEST_COLOR = "#e0484f"
TEXT_COLOR = "#787878"
GRID_COLOR = "rgba(128,128,128,0.25)"
AXIS: dict[str, Any] = {
    "gridcolor": GRID_COLOR,
    "zerolinecolor": GRID_COLOR,
    "linecolor": GRID_COLOR,
    "automargin": True,
}
LAYOUT: dict[str, Any] = {
    "autosize": True,
    "paper_bgcolor": "rgba(0,0,0,0)",
    "plot_bgcolor": "rgba(0,0,0,0)",
    "font": {"color": TEXT_COLOR, "size": 12},
    "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": TEXT_COLOR, "orientation": "h"},
}


def line_style(number: int, width: float = 1) -> dict[str, Any]:
    """Return the style of a line; its dashes also distinguish it from other lines."""
    color = REPLICA_COLORS[number % len(REPLICA_COLORS)]
    dash = REPLICA_DASHES[number % len(REPLICA_DASHES)]
    return {"mode": "lines", "line": {"color": color, "dash": dash, "width": width}}
