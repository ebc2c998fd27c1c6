"""Planning: every number resolved, the same for the same config and machine."""

import math
import sys
from typing import Any

import pytest

from tests.machines import FOUR_GPUS, LAPTOP, TWO_GPUS
from workbench import catalog
from workbench.config import RunConfig
from workbench.plan import Plan, make_plan


def plan(**fields: Any) -> Plan:
    return make_plan(RunConfig(**fields), LAPTOP)


@pytest.mark.parametrize("preset", catalog.PRESETS)
def test_every_preset_can_be_planned_on_any_machine(preset: str) -> None:
    config = catalog.PRESETS[preset].config
    for machine in (LAPTOP, TWO_GPUS, FOUR_GPUS):
        made = make_plan(config, machine)
        assert made.model == config.model
        assert made.total_steps == made.steps_per_epoch * config.epochs > 0


def test_the_same_config_and_machine_give_the_same_plan() -> None:
    assert plan() == plan()


@pytest.mark.parametrize(
    ("scaling", "factor"), [("none", 1.0), ("linear", 4.0), ("square_root", 2.0)]
)
def test_the_learning_rate_grows_with_the_replicas_as_configured(
    scaling: str, factor: float
) -> None:
    config = RunConfig(learning_rate=0.01, learning_rate_scaling=scaling)
    assert math.isclose(make_plan(config, FOUR_GPUS).learning_rate, 0.01 * factor)


@pytest.mark.parametrize(("data", "model"), [("synthetic", "mlp"), ("fashion_mnist", "cnn")])
def test_data_has_its_usual_model(data: str, model: str) -> None:
    assert plan(data=data).model == model


@pytest.mark.parametrize(
    ("fields", "steps"),
    [
        ({}, 1),
        ({"pipeline": "indexed"}, 39),
        ({"pipeline": "indexed", "steps_per_epoch": 20}, 20),
        ({"pipeline": "indexed", "eager": True}, 1),
        ({"pipeline": "indexed", "steps_per_call": 4}, 1),
        ({"pipeline": "indexed", "data": "fashion_mnist", "per_replica_batch_size": 4096}, 1),
        ({"pipeline": "indexed", "data": "fashion_mnist"}, 39),
    ],
)
def test_stacks_are_as_long_as_memory_and_epoch_allow(fields: dict[str, Any], steps: int) -> None:
    made = plan(**fields)
    assert made.steps_per_stack == steps
    floats = 784 if made.data == "fashion_mnist" else 10
    if steps > 1:
        assert steps * made.global_batch_size * floats * 4 <= 16 * 2**20


def test_the_interpreter_is_this_python_unless_another_is_named() -> None:
    assert plan().interpreter == sys.executable
    assert plan(interpreter="/opt/python").interpreter == "/opt/python"


def test_a_batch_is_described_as_tensorflow_sees_it() -> None:
    assert plan().element_spec == (
        "a replica's batch: features (64, 10) float32, labels (64, 1) float32"
    )
    assert plan(data="fashion_mnist", per_replica_batch_size=16).element_spec == (
        "a replica's batch: images (16, 28, 28, 1) float32, labels (16,) uint8"
    )
