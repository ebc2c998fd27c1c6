"""Thinning: exact means, gaps, resumed runs, and speeds over the call's time."""

from __future__ import annotations

import numpy as np
import pytest

from tests.widgets.folders import BATCH, records
from workbench.runs import Block
from workbench.runs.records.curves import Curves


def block(first: int, rows: np.ndarray, seconds: float = 1.0, replaces: bool = False) -> Block:
    count = len(rows)
    return Block(first, rows, np.full(count, seconds), np.full(count, float(count)), replaces)


def test_a_short_run_has_one_point_for_each_step() -> None:
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
def test_thinned_points_are_exact_means_for_every_block_size(chunk: int) -> None:
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


@pytest.mark.parametrize("width", [1, 2, 7, 64])
def test_each_point_has_the_mean_the_lowest_and_the_highest_value_of_its_steps(width: int) -> None:
    losses = np.random.default_rng(width).uniform(size=(500, 2))
    rows = records(500)
    rows[:, :, 0] = BATCH * losses
    curves = Curves(2, width=width)
    for first, last in ((0, 5), (5, 490), (490, 500)):
        curves.add(block(first, rows[first:last]))
    loss = curves.points().loss
    stretches = [losses[first : first + width] for first in range(0, 500, width)]
    for values, numpys in ((loss.mean, np.mean), (loss.low, np.min), (loss.high, np.max)):
        expected = [numpys(stretch, axis=0) for stretch in stretches]
        np.testing.assert_allclose(values, expected, rtol=1e-6)


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


def weighed(steps: int, loss: float, examples: float) -> np.ndarray:
    """Return records [steps, 1, 3] of one replica; half of its examples are correct."""
    return np.tile(np.float32([loss * examples, examples / 2, examples]), (steps, 1, 1))


def two(**options: bool) -> Curves:
    """Return empty curves of two workers with one replica each."""
    return Curves(1, tasks=2, **options)


def test_synchronous_workers_have_one_joined_line_with_the_speed_of_the_slowest() -> None:
    curves = two()
    curves.add(block(0, weighed(4, loss=2.0, examples=1), seconds=4.0), task=0)
    curves.add(block(0, weighed(4, loss=6.0, examples=3), seconds=8.0), task=1)
    points = curves.points()
    assert points.replicas == 2
    np.testing.assert_array_equal(points.step, [1, 2, 3, 4])
    np.testing.assert_allclose(points.loss.mean, np.tile([2.0, 6.0], (4, 1)))
    np.testing.assert_allclose(points.loss.joined, 5.0)
    np.testing.assert_allclose(points.accuracy.joined, 0.5)
    np.testing.assert_allclose(points.rate.mean, np.tile([1.0, 1.5], (4, 1)))
    np.testing.assert_allclose(points.rate.joined, 2.0)
    np.testing.assert_allclose(points.examples, [4, 8, 12, 16])
    np.testing.assert_allclose(points.training_seconds, [2, 4, 6, 8])


def test_a_late_worker_leaves_a_gap_in_the_joined_line_until_its_records_arrive() -> None:
    curves = two()
    curves.add(block(0, weighed(4, loss=2.0, examples=1)), task=0)
    curves.add(block(0, weighed(2, loss=6.0, examples=3)), task=1)
    curves.changes()
    points = curves.points()
    np.testing.assert_allclose(points.loss.mean[:, 0], 2.0)
    assert np.isnan(points.loss.mean[:, 1]).tolist() == [False, False, True, True]
    assert np.isnan(points.loss.joined).tolist() == [False, False, True, True]
    assert not points.nonfinite.any()
    curves.add(block(2, weighed(2, loss=6.0, examples=3)), task=1)
    assert curves.changes() == 2
    points = curves.points()
    np.testing.assert_allclose(points.loss.joined, 5.0)
    np.testing.assert_allclose(points.examples, [4, 8, 12, 16])


def test_a_late_worker_leaves_a_gap_in_points_of_many_steps() -> None:
    curves = Curves(1, most=4, tasks=2)
    curves.add(block(0, weighed(16, loss=2.0, examples=1)), task=0)
    curves.add(block(0, weighed(10, loss=6.0, examples=3)), task=1)
    assert curves.width == 4
    assert np.isnan(curves.points().loss.joined).tolist() == [False, False, True, True]
    curves.add(block(10, weighed(6, loss=6.0, examples=3)), task=1)
    np.testing.assert_allclose(curves.points().loss.joined, 5.0)


def test_asynchronous_workers_have_no_joined_line() -> None:
    curves = two(synchronous=False)
    curves.add(block(0, weighed(4, loss=2.0, examples=1)), task=0)
    curves.add(block(0, weighed(2, loss=6.0, examples=3)), task=1)
    points = curves.points()
    assert np.isnan(points.loss.joined).all()
    np.testing.assert_allclose(points.loss.mean[:, 0], 2.0)
    np.testing.assert_allclose(points.loss.mean[:2, 1], 6.0)


def test_a_resume_of_one_worker_replaces_only_its_own_steps() -> None:
    curves = two()
    for task, loss in enumerate((2.0, 6.0)):
        curves.add(block(0, weighed(4, loss, examples=1)), task=task)
    curves.add(block(2, weighed(1, loss=8.0, examples=1), replaces=True), task=1)
    points = curves.points()
    np.testing.assert_allclose(points.loss.mean[:, 0], 2.0)
    np.testing.assert_allclose(points.loss.mean[:3, 1], [6.0, 6.0, 8.0])
    np.testing.assert_allclose(points.loss.joined[:3], [4.0, 4.0, 5.0])
    assert np.isnan(points.loss.mean[3, 1])
    assert np.isnan(points.loss.joined[3])
