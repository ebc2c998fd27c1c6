"""The learning-rate range test: its training, and the reading of its curve."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tests.machines import LAPTOP
from workbench.config import RunConfig
from workbench.experiments.searching.rate_test import (
    SMOOTHED_STEPS,
    find_learning_rate,
    has_diverged,
    read_curve,
    smoothed,
)
from workbench.experiments.searching.results import RateProgress, RateTest
from workbench.plan import PlanError
from workbench.runs import RunError

STEPS = 150
RATES = np.geomspace(1e-7, 10, STEPS).tolist()
OWN = Path(__file__).with_name("own_rates.py")


def curve(steepest: float = 1e-3, scatter: float = 0.02, seed: int = 0) -> list[float]:
    """Return losses that fall like a logistic curve around a rate, and rise from a rate of 1 on."""
    x = np.log10(RATES)
    fall = 1 / (1 + np.exp(3 * (x - math.log10(steepest))))
    noise = np.random.default_rng(seed).normal(0, scatter, STEPS)
    return (0.1 + fall + np.maximum(0, x) ** 2 + noise).tolist()


def test_the_smoothed_loss_is_corrected_for_its_start() -> None:
    assert smoothed([2.0] * 20) == pytest.approx([2.0] * 20)
    assert smoothed([1.0, 3.0]) == pytest.approx([1.0, (0.09 * 1 + 0.1 * 3) / 0.19])


def test_a_loss_has_diverged_at_four_times_the_best_or_if_it_is_not_finite() -> None:
    flat = [1.0] * SMOOTHED_STEPS
    assert not has_diverged(flat)
    assert not has_diverged([*flat, 15.0])
    assert has_diverged([*flat, 50.0])
    assert has_diverged([math.nan])
    assert has_diverged([1.0, math.inf])
    assert not has_diverged([])


def test_a_high_second_loss_is_no_divergence() -> None:
    assert not has_diverged([0.001, 3.0, 0.5])


@pytest.mark.parametrize("steepest", [1e-5, 1e-3, 3e-2])
@pytest.mark.parametrize("seed", range(5))
def test_the_suggestion_is_the_rate_at_which_the_loss_falls_fastest(
    steepest: float, seed: int
) -> None:
    reading = read_curve(RATES, curve(steepest, seed=seed), STEPS)
    assert reading.suggestion is not None
    assert reading.minimum_rate is not None
    assert abs(math.log10(reading.suggestion / steepest)) < 0.4
    assert reading.suggestion < reading.minimum_rate
    assert "falls fastest" in reading.reason


def test_a_curve_that_ends_with_a_loss_that_is_not_finite_is_read() -> None:
    losses = [*curve()[:120], math.nan]
    assert read_curve(RATES[:121], losses, STEPS).suggestion is not None


@pytest.mark.parametrize("seed", range(20))
def test_noise_does_not_count_as_a_fall(seed: int) -> None:
    losses = np.random.default_rng(seed).normal(1.0, 0.2, STEPS).tolist()
    reading = read_curve(RATES, losses, STEPS)
    assert reading.suggestion is None
    assert "never fell" in reading.reason


def test_a_loss_that_diverges_immediately_gives_a_reason() -> None:
    reading = read_curve(RATES[:3], [1.0, 2.0, math.inf], STEPS)
    assert reading.suggestion is None
    assert "Start at a lower rate" in reading.reason


@pytest.fixture(scope="module")
def reports() -> list[RateProgress]:
    """The progress reports of the test of two replicas."""
    return []


@pytest.fixture(scope="module")
def mirrored(reports: list[RateProgress]) -> RateTest:
    """A test of two replicas."""
    config = RunConfig(replicas=2, learning_rate_scaling="linear")
    return find_learning_rate(config, steps=100, devices=LAPTOP, on_progress=reports.append)


@pytest.mark.slow
def test_a_rate_is_suggested_for_several_replicas(
    mirrored: RateTest, reports: list[RateProgress]
) -> None:
    assert mirrored.suggestion is not None
    assert mirrored.minimum_rate is not None
    assert 1e-3 < mirrored.suggestion < mirrored.minimum_rate
    assert mirrored.learning_rate == pytest.approx(mirrored.suggestion / 2, rel=0.1)
    assert len({round(two / one, 6) for one, two in pairwise(mirrored.rates)}) == 1
    assert len(mirrored.losses) == len(mirrored.rates) <= 100
    assert reports[-1].rates == mirrored.rates
    json.dumps(mirrored.to_json(), allow_nan=False)


@pytest.mark.slow
def test_workers_use_the_same_rates_and_add_up_their_losses(mirrored: RateTest) -> None:
    config = RunConfig(strategy="multi_worker_mirrored", workers=2)
    workers = find_learning_rate(config, steps=100, devices=LAPTOP)
    # Rounding has little effect as long as the rates are small.
    assert workers.rates[:60] == mirrored.rates[:60]
    assert workers.losses[:60] == pytest.approx(mirrored.losses[:60], abs=1e-5)


@pytest.mark.slow
def test_a_custom_model_keeps_its_optimizer_in_fit() -> None:
    config = RunConfig(replicas=2, loop="fit", model=f"{OWN}:with_momentum")
    test = find_learning_rate(config, lowest=1e-4, steps=50, devices=LAPTOP)
    assert test.optimizer == "compiled"
    assert test.suggestion == test.learning_rate
    assert len(test.rates) > 20


@pytest.mark.slow
def test_a_learning_rate_that_cannot_be_set_is_an_error() -> None:
    with pytest.raises(RunError, match=r"learning rate can be set; got SGD.*Give it a number"):
        find_learning_rate(RunConfig(model=f"{OWN}:scheduled"), devices=LAPTOP)


def test_a_stopped_test_returns_its_results_so_far() -> None:
    test = find_learning_rate(RunConfig(), devices=LAPTOP, stopped=lambda: True)
    assert (test.ended, test.rates, test.suggestion) == ("stopped", (), None)


@pytest.mark.parametrize(
    ("config", "lowest", "highest", "steps", "fields"),
    [
        (RunConfig(strategy="parameter_server"), 1e-7, 10, 100, ["strategy"]),
        (RunConfig(), 0, 10, 100, ["lowest"]),
        (RunConfig(), 1, 1, 100, ["highest"]),
        (RunConfig(), -1, float("inf"), 10, ["lowest", "highest", "steps"]),
        (RunConfig(per_replica_batch_size=0), 1e-7, 10, 100, ["per_replica_batch_size"]),
    ],
)
def test_wrong_input_is_refused_before_the_test(
    config: RunConfig, lowest: float, highest: float, steps: int, fields: list[str]
) -> None:
    with pytest.raises(PlanError) as refused:
        find_learning_rate(config, lowest, highest, steps, LAPTOP)
    assert [problem.field for problem in refused.value.problems] == fields
