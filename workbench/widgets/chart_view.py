"""The live charts, and a picture for as long as the page has not drawn them."""

from __future__ import annotations

import time

import ipywidgets as ipw

from workbench import charts
from workbench.charts import EpochPoints, Points

from .png import data_uri
from .run_chart import RunChart

LIVE_SECONDS = 0.2
PICTURE_SECONDS = 5.0
ANSWER_SECONDS = 5.0


class ChartView:
    """Shows points; called from one thread at a time.

    The page tells when it has the chart's code. Until then, and in hosts that never run it, a
    picture shows the same at a gentle rate.
    """

    def __init__(self) -> None:
        self.box = ipw.VBox()
        self.box.add_class("wb-chart")
        self._chart = RunChart(self._on_answer)
        self._picture = ipw.HTML(description="Charts")
        self._answered = False
        self._asked_at: float | None = None
        self.box.children = [self._chart]

    @property
    def every_seconds(self) -> float:
        """How often new points are worth showing."""
        return PICTURE_SECONDS if self._needs_picture() else LIVE_SECONDS

    def clear(self) -> None:
        """Show nothing."""
        self.box.layout.display = "none"
        self._asked_at = None

    def show(self, points: Points, epochs: EpochPoints, *, virtual: bool) -> None:
        """Draw these points in place of the earlier ones."""
        self._asked_at = self._asked_at or time.monotonic()
        self._chart.show(points, epochs, virtual=virtual)
        if self._needs_picture():
            drawn = data_uri(charts.picture(points, epochs, virtual=virtual))
            self._picture.value = f'<img alt="Loss, accuracy and throughput" src="{drawn}">'
            self.box.children = [self._picture, self._chart]
        self.box.layout.display = None

    def _needs_picture(self) -> bool:
        """Whether the page has had its time; one that is closed does not answer either."""
        asked_at = self._asked_at
        late = asked_at is not None and time.monotonic() - asked_at > ANSWER_SECONDS
        return late and not self._answered

    def _on_answer(self) -> None:
        self._answered = True
        if len(self.box.children) > 1:
            self.box.children = [self._chart]
