"""The learning-rate range test on real scripts."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from tests.machines import LAPTOP
from workbench.config import RunConfig
from workbench.experiments.searching.found_rate import RateProgress, RateTest
from workbench.experiments.searching.rate_test import find_learning_rate
from workbench.plan import PlanError
from workbench.runs import RunError

OWN = Path(__file__).with_name("own_rates.py")


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
