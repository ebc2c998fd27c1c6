"""What goes to the page: only what changed, the whole on request, NaN as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.test_charts import ONE_EPOCH, points
from workbench.charts import EpochPoints, Points
from workbench.widgets.run_chart import RunChart, first_difference


class Page:
    """Hears what a chart sends, and asks as a page does."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.heard: list[tuple[dict[str, Any], list[bytes]]] = []
        self.answered = 0
        monkeypatch.setattr(RunChart, "send", lambda _, *message: self.heard.append(message))
        self.chart = RunChart(self.answer)

    def answer(self) -> None:
        self.answered += 1

    def show(self, shown: Points, epochs: EpochPoints | None = None) -> None:
        self.chart.show(shown, epochs or EpochPoints(), virtual=True)

    def ask(self) -> None:
        self.chart._handle_custom_msg({"kind": "ready"}, [])

    def last(self) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
        header, (steps, values) = self.heard[-1]
        lines = 3 * (header["replicas"] + 1)
        return header, np.frombuffer(steps, "<f8"), np.frombuffer(values, "<f4").reshape(lines, -1)


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Page:
    return Page(monkeypatch)


def test_first_the_whole_then_what_is_new(page: Page) -> None:
    page.show(points(3))
    header, steps, values = page.last()
    assert (header["whole"], header["from"], header["sequence"]) == (True, 0, 1)
    np.testing.assert_array_equal(steps, [1, 2, 3])
    np.testing.assert_array_equal(values[0], [0, 2, 4])
    np.testing.assert_array_equal(values[2], [0.5, 2.5, 4.5])
    page.show(points(5))
    header, steps, values = page.last()
    assert (header["whole"], header["from"], header["sequence"]) == (False, 3, 2)
    np.testing.assert_array_equal(steps, [4, 5])
    np.testing.assert_array_equal(values[1], [7, 9])


def test_a_page_that_asks_gets_the_whole(page: Page) -> None:
    page.ask()
    assert (page.heard, page.answered) == ([], 1)
    page.show(points(3))
    page.show(points(5))
    page.ask()
    header, steps, _ = page.last()
    assert (header["whole"], header["from"], header["sequence"]) == (True, 0, 3)
    assert len(steps) == 5


def test_points_that_stand_for_more_steps_are_sent_whole(page: Page) -> None:
    page.show(points(4))
    page.show(points(2, steps_a_point=2))
    header, *_ = page.last()
    assert (header["whole"], header["stepsAPoint"]) == (True, 2)


def test_a_point_that_grew_and_those_after_it_are_sent_again() -> None:
    before, after = points(4), points(6)
    after.mean_loss[2] += 1
    assert first_difference(before, after) == 2
    assert first_difference(points(6), points(4)) == 4
    assert first_difference(points(4), points(4)) == 4
    assert first_difference(points(4), points(4, replicas=3)) is None


def test_gaps_stay_gaps_and_are_not_sent_twice(page: Page) -> None:
    holed = points(4)
    holed.loss[1] = np.nan
    assert first_difference(holed, holed) == 4
    page.show(holed)
    assert np.isnan(page.last()[2][0, 1])


def test_epochs_come_along_null_where_they_are_not_known(page: Page) -> None:
    page.show(points(2), ONE_EPOCH)
    assert page.last()[0]["epochs"]["testAccuracy"] == [0.7]
    unknown = np.array([np.nan])
    page.show(points(2), EpochPoints(*(np.array([5.0]), unknown, unknown, unknown, unknown)))
    assert page.last()[0]["epochs"]["testLoss"] == [None]
