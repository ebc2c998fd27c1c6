"""The plans of the trials of batch sizes."""

import dataclasses

from tests.machines import GIB, LAPTOP
from workbench.config import RunConfig
from workbench.experiments.searching.batch_trials import Plans

CNN = RunConfig(strategy="one_device", data="fashion_mnist")


def test_the_largest_size_is_the_data_if_it_fits() -> None:
    plans = Plans(CNN, LAPTOP, None)
    assert plans.most == 60_000
    assert plans.refused == ""


def test_the_largest_size_is_what_the_memory_can_hold() -> None:
    plans = Plans(CNN, dataclasses.replace(LAPTOP, memory_bytes=2 * GIB), None)
    assert plans.refused.startswith(f"per_replica_batch_size must be at most {plans.most:,}, ")
    assert 1_000 < plans.most < 10_000
