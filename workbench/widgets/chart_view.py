"""The live charts: a plotly FigureWidget, or a picture where the host cannot show one.

This is the seam for another front end: `show` and `settle` are all that the run view calls.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import ipywidgets as ipw

from workbench import charts
from workbench.charts import EpochPoints, Points

from .png import data_uri

LIVE_SECONDS = 0.5
PICTURE_SECONDS = 5.0
ANSWER_SECONDS = 10.0
MOST_TRIES = 3


class ChartView:
    """Shows points; called from one thread at a time."""

    def __init__(self) -> None:
        self.box = ipw.VBox()
        self.box.add_class("wb-chart")
        self._figure: Any = None
        self._lines: tuple[int, bool] | None = None
        self._answered = False
        self._tries = 0
        self._made_at = 0.0
        self._pictures_only = "google.colab" in sys.modules
        self.every_seconds = PICTURE_SECONDS if self._pictures_only else LIVE_SECONDS

    def clear(self) -> None:
        """Show nothing."""
        self._drop()
        self._tries = 0

    def show(self, points: Points, epochs: EpochPoints, *, virtual: bool) -> None:
        """Draw these points in place of the earlier ones."""
        if self._pictures_only:
            self._show_picture(points, epochs, virtual=virtual)
        elif self._lines == (points.replicas, virtual) and not self._seems_lost():
            charts.update(self._figure, points, epochs, virtual=virtual)
        else:
            self._show_new(points, epochs, virtual=virtual)

    def settle(self, points: Points, epochs: EpochPoints, *, virtual: bool) -> None:
        """Draw the last points of a run.

        The figure is made anew, because a page that is loaded again gets a figure as it was
        made, without later updates.
        """
        if self._pictures_only:
            self._show_picture(points, epochs, virtual=virtual)
        else:
            self._show_new(points, epochs, virtual=virtual)

    def _show_new(self, points: Points, epochs: EpochPoints, *, virtual: bool) -> None:
        try:
            figure = charts.run_figure(points, epochs, virtual=virtual, widget=True)
        except ImportError:
            self._pictures_only, self.every_seconds = True, PICTURE_SECONDS
            self._show_picture(points, epochs, virtual=virtual)
            return
        self._drop()
        self._figure, self._lines = figure, (points.replicas, virtual)
        self._answered, self._made_at = False, time.monotonic()
        self._tries += 1
        figure.observe(self._on_answer, "_js2py_layoutDelta")
        self.box.children = [figure]

    def _on_answer(self, _: Any) -> None:
        self._answered = True

    def _seems_lost(self) -> bool:
        """Whether the page never drew the figure: anywidget gives up after 2 s of a busy machine.

        A page that is closed, or a kernel busy with a cell, does not answer either, so it is
        made anew only a few times.
        """
        waited = time.monotonic() - self._made_at
        return not self._answered and waited > ANSWER_SECONDS and self._tries < MOST_TRIES

    def _show_picture(self, points: Points, epochs: EpochPoints, *, virtual: bool) -> None:
        drawn = data_uri(charts.picture(points, epochs, virtual=virtual))
        inside = f'<img alt="Loss, accuracy and throughput" src="{drawn}">'
        if not self.box.children:
            self.box.children = [ipw.HTML(description="Charts")]
        self.box.children[0].value = inside

    def _drop(self) -> None:
        old = self._figure
        self._figure = self._lines = None
        self.box.children = []
        if old is not None:
            old.close()
