"""The strategies and the steps of a tournament."""

from dataclasses import replace

import pytest

from tests.machines import LAPTOP, TWO_GPUS
from workbench.catalog import STRATEGIES
from workbench.config import RunConfig
from workbench.devices import Devices
from workbench.experiments import candidates
from workbench.experiments.queueing.tournament import contenders, to_be_compared

WITHOUT_TPU = [
    *("one_device", "default", "mirrored", "central_storage"),
    *("multi_worker_mirrored", "parameter_server"),
]


@pytest.mark.parametrize("devices", [LAPTOP, TWO_GPUS])
def test_every_strategy_but_tpu_takes_part_on_a_machine_without_a_tpu(devices: Devices) -> None:
    assert contenders(devices) == WITHOUT_TPU


def test_with_a_tpu_all_strategies_take_part_the_simplest_first() -> None:
    found = contenders(replace(LAPTOP, tpu_chips=4, tpu_kind="v5e"))
    assert set(found) == set(STRATEGIES)
    assert [name for name in found if name != "tpu"] == WITHOUT_TPU


def test_all_that_take_part_can_be_planned() -> None:
    config = to_be_compared(RunConfig(data="fashion_mnist"), None)
    found = candidates(config, {"strategy": contenders(LAPTOP)}, LAPTOP)
    assert [each.reason for each in found] == [""] * len(WITHOUT_TPU)


@pytest.mark.parametrize(
    ("data", "target_accuracy", "steps", "epochs_and_steps"),
    [
        ("synthetic", None, None, (1, 3_000)),
        ("fashion_mnist", None, None, (1, 100)),
        ("fashion_mnist", 0.8, None, (5, 20)),
        ("fashion_mnist", 0.8, 12, (5, 3)),
        ("fashion_mnist", None, 12, (1, 12)),
    ],
)
def test_the_steps_are_in_one_epoch_or_spread_for_a_target(
    data: str,
    target_accuracy: float | None,
    steps: int | None,
    epochs_and_steps: tuple[int, int],
) -> None:
    found = to_be_compared(RunConfig(data=data, epochs=5), target_accuracy, steps)
    assert (found.epochs, found.steps_per_epoch) == epochs_and_steps
