"""The live charts: a plotly FigureWidget, and a picture for as long as the page draws none.

This is the seam for another front end: `show` and `settle` are all that the run view calls.
"""

from __future__ import annotations

import copy
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


class ChartView:
    """Shows points; called from one thread at a time.

    One figure serves run after run: a page has to load megabytes of code for each, and anywidget
    gives up after 2 s, which a machine busy with training can well take.
    """

    def __init__(self) -> None:
        self.box = ipw.VBox()
        self.box.add_class("wb-chart")
        self._figure: Any = None
        self._picture = ipw.HTML(description="Charts")
        self._lines: tuple[int, bool] | None = None
        self._answered = False
        self._made_at = 0.0
        self._runs = 0
        self._no_figures = "google.colab" in sys.modules
        self._with_picture = self._no_figures

    @property
    def every_seconds(self) -> float:
        """How often new points are worth showing."""
        return PICTURE_SECONDS if self._with_picture else LIVE_SECONDS

    def clear(self) -> None:
        """Show nothing."""
        self.box.layout.display = "none"
        self._runs += 1

    def show(self, points: Points, epochs: EpochPoints, *, virtual: bool) -> None:
        """Draw these points in place of the earlier ones."""
        if self._seems_lost():
            self._with_picture = True
            self._drop()
        if self._lines == (points.replicas, virtual):
            charts.update(self._figure, points, epochs, virtual=virtual)
            self._figure.layout.uirevision = str(self._runs)
        elif not self._no_figures:
            self._show_new(points, epochs, virtual=virtual)
        if self._with_picture:
            self._show_picture(points, epochs, virtual=virtual)
        self.box.layout.display = None

    def settle(self, points: Points, epochs: EpochPoints, *, virtual: bool) -> None:
        """Draw the last points of a run, and keep them for a page that is loaded again.

        Such a page gets a figure as it was made, without later updates.
        """
        self.show(points, epochs, virtual=virtual)
        figure = self._figure
        if figure is not None and figure.has_trait("_widget_data"):
            figure._widget_layout = figure.layout.to_plotly_json()
            figure._widget_data = copy.deepcopy(figure._data)

    def _show_new(self, points: Points, epochs: EpochPoints, *, virtual: bool) -> None:
        self._drop()
        try:
            figure = charts.run_figure(points, epochs, virtual=virtual, widget=True)
        except ImportError:
            self._no_figures = self._with_picture = True
            return
        self._figure, self._lines = figure, (points.replicas, virtual)
        self._answered, self._made_at = False, time.monotonic()
        figure.observe(self._on_views, "_view_count")
        self._arrange()

    def _on_views(self, change: Any) -> None:
        if change["new"]:
            self._answered, self._with_picture = True, False
            self._arrange()

    def _seems_lost(self) -> bool:
        """Whether the page has not drawn the figure.

        A page that is closed, or a kernel busy with a cell, does not answer either.
        """
        waited = time.monotonic() - self._made_at
        return self._figure is not None and not self._answered and waited > ANSWER_SECONDS

    def _show_picture(self, points: Points, epochs: EpochPoints, *, virtual: bool) -> None:
        drawn = data_uri(charts.picture(points, epochs, virtual=virtual))
        self._picture.value = f'<img alt="Loss, accuracy and throughput" src="{drawn}">'
        self._arrange()

    def _arrange(self) -> None:
        """Put the figure in the box, under the picture while the page has not drawn it."""
        shown = (self._picture if self._with_picture else None, self._figure)
        parts = [part for part in shown if part is not None]
        if self.box.children != tuple(parts):
            self.box.children = parts

    def _drop(self) -> None:
        old = self._figure
        self._figure = self._lines = None
        self._arrange()
        if old is not None:
            old.close()
