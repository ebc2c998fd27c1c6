"""Thinning: exact means, gaps, resumed runs, and speeds over the call's time."""

from __future__ import annotations

import numpy as np
import pytest

from tests.widgets.folders import BATCH, records
from workbench.runs import Block
from workbench.runs.curves import Curves


def block(first: int, rows: np.ndarray, seconds: float = 1.0, replaces: bool = False) -> Block:
    count = len(rows)
    return Block(first, rows, np.full(count, seconds), np.full(count, float(count)), replaces)


def test_a_short_run_has_a_point_a_step() -> None:
    curves = Curves(2)
    curves.add(block(0, records(10)))
    points = curves.points()
    np.testing.assert_array_equal(points.step, np.arange(1, 11))
    np.testing.assert_allclose(points.loss.mean, np.tile([1.0, 2.0], (10, 1)))
    np.testing.assert_allclose(points.loss.joined, 1.5)
    np.testing.assert_allclose(points.accuracy.mean, 0.5)


def test_speed_is_examples_over_the_time_of_the_call() -> None:
    curves = Curves(2)
    curves.add(block(0, records(10), seconds=2.0))
    points = curves.points()
    np.testing.assert_allclose(points.rate.mean, BATCH * 10 / 2.0)
    np.testing.assert_allclose(points.rate.joined, 2 * BATCH * 10 / 2.0)


@pytest.mark.parametrize("chunk", [1, 7, 500])
def test_thinned_points_are_exact_means_however_they_arrive(chunk: int) -> None:
    losses = np.random.default_rng(0).uniform(size=(500, 2))
    rows = records(500)
    rows[:, :, 0] = BATCH * losses
    curves = Curves(2, most=100)
    for first in range(0, 500, chunk):
        curves.add(block(first, rows[first : first + chunk]))
    points = curves.points()
    assert points.steps_a_point == 8
    assert len(points.step) <= 100
    assert points.step[-1] == 500
    np.testing.assert_allclose(points.loss.mean[0], losses[:8].mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(points.loss.mean[-1], losses[496:].mean(axis=0), rtol=1e-5)


def test_means_are_weighted_by_examples() -> None:
    rows = records(1)
    rows[0, 1] = (0.0, 0.0, 0.0)
    curves = Curves(2)
    curves.add(block(0, rows))
    points = curves.points()
    assert points.loss.joined[0] == 1.0
    assert np.isnan(points.loss.mean[0, 1])


def test_steps_that_were_not_recorded_are_a_gap() -> None:
    curves = Curves(2)
    curves.add(block(0, records(3)))
    curves.add(block(6, records(3)))
    points = curves.points()
    assert np.isnan(points.loss.joined[3:6]).all()
    assert np.isfinite(points.loss.joined[[2, 6]]).all()
    assert (np.diff(points.step) > 0).all()


def test_a_gap_in_a_long_run_keeps_its_place() -> None:
    curves = Curves(2, most=10)
    curves.add(block(0, records(2)))
    curves.add(block(18, records(2)))
    points = curves.points()
    assert np.isnan(points.loss.joined[1:-1]).all()
    np.testing.assert_array_equal(points.step, np.arange(2, 21, 2))


def test_a_resumed_run_replaces_what_it_does_again() -> None:
    curves = Curves(2)
    curves.add(block(0, records(10)))
    curves.add(block(6, records(2, loss=3.0), replaces=True))
    points = curves.points()
    np.testing.assert_allclose(points.loss.mean[:, 0], [1, 1, 1, 1, 1, 1, 3, 3])


def test_a_model_without_accuracy_and_an_infinite_loss_are_gaps() -> None:
    rows = records(2)
    rows[:, :, 1] = np.nan
    rows[1, 0, 0] = np.inf
    curves = Curves(2)
    curves.add(block(0, rows))
    points = curves.points()
    assert np.isnan(points.accuracy.mean).all()
    assert np.isnan(points.loss.mean[1, 0])
    assert points.loss.mean[1, 1] == 2.0


def test_steps_whose_call_is_not_written_yet_have_no_speed() -> None:
    unknown = np.full(2, np.nan)
    curves = Curves(2)
    curves.add(Block(0, records(2), unknown, unknown, False))
    assert np.isnan(curves.points().rate.mean).all()
    assert np.isfinite(curves.points().loss.mean).all()
