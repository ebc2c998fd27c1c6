"""The noise scale of gradients with a known noise scale, and the coverage of its interval."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.experiments.noise_scale import (
    NO_DIRECTION,
    NO_NOISE,
    estimate,
    most_speedup,
    separate,
    signal_per_noise,
    statistical_efficiency,
)
from workbench.runs.programs.noise import Gradients

DRAWS, GROUPS, BATCHES, WEIGHTS = 2_000, 32, 4, 50  # batches: of each group, over its replicas
SIZE = 16


def drawn(
    noise_scale: float, draws: int, groups: int = GROUPS, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean squared norms, [draws, groups], and products, [draws, groups, groups].

    Gradients are normally distributed around 1 in each weight. The variance of a batch is the
    variance of an example divided by the batch size.
    """
    random = np.random.default_rng(seed)
    deviation = np.sqrt(noise_scale / SIZE)
    shape = (draws, groups, BATCHES, WEIGHTS)
    gradients = 1 + deviation * random.standard_normal(shape)
    means = gradients.mean(axis=2)
    return (gradients**2).sum(axis=3).mean(axis=2), means @ means.transpose(0, 2, 1)


def held(noise_scale: float, groups: int = GROUPS) -> tuple[float, float]:
    """Return how often the interval holds the true value, and how often it lies above it."""
    small, products = drawn(noise_scale, DRAWS, groups)
    ratio, margin = signal_per_noise(small, products, SIZE, groups * BATCHES)
    truth = 1 / noise_scale
    return float(np.mean(np.abs(ratio - truth) <= margin)), float(np.mean(ratio + margin < truth))


@pytest.mark.parametrize("noise_scale", [2, 16, 160])
def test_95_of_100_intervals_hold_the_true_value(noise_scale: float) -> None:
    share, _ = held(noise_scale)
    assert 0.93 <= share <= 0.97


@pytest.mark.parametrize("noise_scale", [1_600, 16_000])
def test_if_noise_hides_the_direction_the_interval_is_not_too_narrow(
    noise_scale: float,
) -> None:
    share, above = held(noise_scale)
    assert share >= 0.94
    assert above <= 0.03


def test_intervals_from_the_fewest_steps_hold_the_true_value() -> None:
    share, _ = held(16, groups=8)
    assert 0.93 <= share <= 0.97


def test_both_parts_are_unbiased() -> None:
    small, products = drawn(noise_scale=64, draws=DRAWS)
    big = products.mean(axis=(1, 2))
    signal, noise = separate(small.mean(axis=1), big, SIZE, SIZE * GROUPS * BATCHES)
    for values, truth in ((signal, WEIGHTS), (noise, 64 * WEIGHTS)):
        error = values.std() / np.sqrt(DRAWS)
        assert abs(values.mean() - truth) < 3 * error


def test_the_estimate_is_the_ratio_of_means_and_not_the_mean_of_ratios() -> None:
    found = estimate(gradients(noise_scale=160))
    assert found.examples is not None
    assert found.low is not None
    assert found.high is not None
    assert found.examples == pytest.approx(found.noise / found.squared_gradient)
    assert found.low < 160 < found.high
    assert (found.step, found.batches, found.batch_size) == (7, GROUPS * BATCHES, SIZE)


def test_an_interval_without_an_upper_end_gives_only_a_lower_bound() -> None:
    found = estimate(gradients(noise_scale=1e9))
    assert (found.examples, found.high, found.reason) == (None, None, NO_DIRECTION)
    assert found.low is not None
    assert 1_000 < found.low < 1e9


def test_gradients_that_cancel_over_all_the_data_give_no_bound() -> None:
    one = gradients(noise_scale=1e6)
    none = np.zeros_like(one.products)
    found = estimate(Gradients(one.step, SIZE, one.squared_norms, none, WEIGHTS))
    assert (found.examples, found.low, found.high) == (None, None, None)
    assert found.squared_gradient < 0


def test_batches_with_equal_gradients_have_no_noise_to_measure() -> None:
    found = estimate(Gradients(0, SIZE, np.full((8, 2), 3.0), np.full((8, 8), 3.0), WEIGHTS))
    assert (found.examples, found.low, found.reason) == (None, None, NO_NOISE)
    dead = estimate(Gradients(0, SIZE, np.zeros((8, 2)), np.zeros((8, 8)), WEIGHTS))
    assert dead.reason == NO_NOISE


def test_half_of_an_examples_worth_is_left_at_the_noise_scale() -> None:
    assert statistical_efficiency(1_000, 1_000) == 0.5
    assert statistical_efficiency(1_000, 3_000, baseline=1_000) == 0.5
    assert statistical_efficiency(1_000, 128, baseline=128) == 1


def test_doubling_helps_fully_far_below_the_noise_scale_and_not_at_all_far_above() -> None:
    assert most_speedup(1e9, 128, 2) == pytest.approx(2, abs=1e-6)
    assert most_speedup(1_000, 1_000, 2) == pytest.approx(4 / 3)
    assert most_speedup(1, 1e9, 2) == pytest.approx(1, abs=1e-6)


def gradients(noise_scale: float) -> Gradients:
    """Return one draw in the form of a run's gradients, for two replicas."""
    random = np.random.default_rng(3)
    shape = (GROUPS, BATCHES, WEIGHTS)
    each = 1 + np.sqrt(noise_scale / SIZE) * random.standard_normal(shape)
    means = each.mean(axis=1)
    norms = (each**2).sum(axis=2).reshape(-1, 2)
    return Gradients(7, SIZE, norms, means @ means.T, WEIGHTS)
