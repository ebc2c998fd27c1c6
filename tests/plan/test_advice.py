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
    "setup",
    [
        "export API_KEY=abc",
        "module load cuda\nhf_token='abc'; export hf_token",
        "export A=1 DB_PASSWD=abc",
    ],
)
def test_a_secret_in_the_commands_of_a_job_brings_a_warning_with_the_alternative(
    setup: str,
) -> None:
    warning = given(LAPTOP, launcher="slurm", job_setup=setup)["job_setup"]
    name = next(n for n in ("API_KEY", "hf_token", "DB_PASSWD") if n in setup)
    assert name in warning
    assert "abc" not in warning
    assert "the run's folder and its exports" in warning
    assert "source ~/.secrets" in warning
    assert "--export" in warning


@pytest.mark.parametrize(
    "setup",
    ["source ~/.secrets", "module load keyring", "export API_KEY=$MINE", "sort --key=2 names", ""],
)
def test_commands_that_assign_no_secret_bring_no_warning(setup: str) -> None:
    assert "job_setup" not in given(LAPTOP, launcher="slurm", job_setup=setup)


@pytest.mark.parametrize(
    "fields", [{"epochs": 1_000_000}, {"epochs": 1, "steps_per_epoch": 200_000_000}]
)
def test_a_run_of_very_many_steps_brings_a_warning_with_its_hours(fields: dict[str, int]) -> None:
    warning = given(LAPTOP, **fields)["epochs"]
    steps = make_plan(RunConfig(**fields), LAPTOP).total_steps  # type: ignore[arg-type]
    assert f"{steps:,} steps" in warning
    assert f"{steps / 3_600_000:,.0f} hours" in warning
