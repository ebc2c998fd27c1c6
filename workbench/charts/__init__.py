"""Plotly figures and pictures from numbers: of one run, and of several compared runs.

Backgrounds are transparent. Colours are readable on white and on near black, so one figure serves
both themes. This package reads arrays; it uses no run folder and no widget.
"""

from .comparison import Bar, Overlay, overlay_figure, speed_figure
from .run import JOINED, Line, lines, picture, run_figure, warm_up
from .style import REPLICA_COLORS, REPLICA_DASHES

__all__ = [
    "JOINED",
    "REPLICA_COLORS",
    "REPLICA_DASHES",
    "Bar",
    "Line",
    "Overlay",
    "lines",
    "overlay_figure",
    "picture",
    "run_figure",
    "speed_figure",
    "warm_up",
]
