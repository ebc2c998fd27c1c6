"""The live charts: a plotly FigureWidget, or a picture where the page does not draw one.

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
MOST_TRIES = 3


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
        self._tries = 0
        self._made_at = 0.0
        self._runs = 0
        self._pictures_only = "google.colab" in sys.modules

    @property
    def every_seconds(self) -> float:
        """How often new points are worth showing."""
        return PICTURE_SECONDS if self._pictures_only else LIVE_SECONDS

    def clear(self) -> None:
        """Show nothing."""
        self.box.layout.display = "none"
        self._runs += 1

    def show(self, points: Points, epochs: EpochPoints, *, virtual: bool) -> None:
        """Draw these points in place of the earlier ones."""
        if not self._pictures_only and self._seems_lost():
            self._give_up_or_try_again()
        if self._pictures_only:
            self._show_picture(points, epochs, virtual=virtual)
        elif self._lines == (points.replicas, virtual):
            charts.update(self._figure, points, epochs, virtual=virtual)
            self._figure.layout.uirevision = str(self._runs)
        else:
            self._show_new(points, epochs, virtual=virtual)
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
        try:
            figure = charts.run_figure(points, epochs, virtual=virtual, widget=True)
        except ImportError:
            self._pictures_only = True
            self._show_picture(points, epochs, virtual=virtual)
            return
        self._drop()
        self._figure, self._lines = figure, (points.replicas, virtual)
        self._answered, self._made_at = False, time.monotonic()
        self._tries += 1
        figure.observe(self._on_views, "_view_count")
        self.box.children = [figure]

    def _on_views(self, change: Any) -> None:
        if change["new"]:
            self._answered, self._tries = True, 0

    def _seems_lost(self) -> bool:
        """Whether the page has not drawn the figure.

        A page that is closed, or a kernel busy with a cell, does not answer either.
        """
        waited = time.monotonic() - self._made_at
        return self._figure is not None and not self._answered and waited > ANSWER_SECONDS

    def _give_up_or_try_again(self) -> None:
        self._pictures_only = self._tries >= MOST_TRIES
        self._drop()

    def _show_picture(self, points: Points, epochs: EpochPoints, *, virtual: bool) -> None:
        drawn = data_uri(charts.picture(points, epochs, virtual=virtual))
        self._picture.value = f'<img alt="Loss, accuracy and throughput" src="{drawn}">'
        if self.box.children != (self._picture,):
            self.box.children = [self._picture]

    def _drop(self) -> None:
        old = self._figure
        self._figure = self._lines = None
        self.box.children = []
        if old is not None:
            old.close()
