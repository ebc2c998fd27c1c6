"""Warnings about values that can be trained but are probably not meant."""

import pytest

from tests.machines import FOUR_GPUS, LAPTOP
from workbench import RunConfig
from workbench.devices import Devices
from workbench.plan import make_plan
from workbench.plan.advice import advice


def given(devices: Devices, **fields: object) -> dict[str, str]:
    return advice(make_plan(RunConfig(**fields), devices), devices)  # type: ignore[arg-type]


def test_usual_values_bring_no_warning() -> None:
    assert given(LAPTOP) == given(FOUR_GPUS) == given(LAPTOP, replicas=32, epochs=100_000) == {}


def test_more_virtual_replicas_than_cores_can_serve_bring_a_warning() -> None:
    (warning,) = given(LAPTOP, replicas=100, global_batch_size=1000).items()
    assert warning[0] == "replicas"
    assert warning[1].startswith("100 virtual replicas share 8 CPU cores.")


@pytest.mark.parametrize(
    "fields", [{"epochs": 1_000_000}, {"epochs": 1, "steps_per_epoch": 200_000_000}]
)
def test_a_run_of_very_many_steps_brings_a_warning_with_its_hours(fields: dict[str, int]) -> None:
    warning = given(LAPTOP, **fields)["epochs"]
    steps = make_plan(RunConfig(**fields), LAPTOP).total_steps  # type: ignore[arg-type]
    assert f"{steps:,} steps" in warning
    assert f"{steps / 3_600_000:,.0f} hours" in warning
