"""The JSON schema of a config: editors accept what the workbench accepts."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from workbench.catalog import PRESETS
from workbench.config import RunConfig
from workbench.schema import config_schema


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    Draft202012Validator.check_schema(config_schema())
    return Draft202012Validator(config_schema())


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_is_valid(validator: Draft202012Validator, preset: str) -> None:
    assert validator.is_valid(PRESETS[preset].config.to_json())


@pytest.mark.parametrize(
    "values",
    [
        {"$schema": "config.schema.json", "epochs": 2},
        {"gpu_memory": 2048, "devices": ["GPU:0", "GPU:1"], "model": "mine.py:build_model"},
        {"learning_rate": 1, "optimizer": None, "steps_per_call": "epoch"},
    ],
    ids=str,
)
def test_what_a_config_accepts_is_valid(
    validator: Draft202012Validator, values: dict[str, Any]
) -> None:
    assert RunConfig.from_json(values)
    assert validator.is_valid(values)


@pytest.mark.parametrize(
    "values",
    [
        {"epoch": 2},
        {"epochs": "2"},
        {"epochs": 0},
        {"seed": 2**31},
        {"strategy": "mirored"},
        {"devices": "GPU:0"},
        {"version": 2},
        [],
    ],
    ids=str,
)
def test_what_the_workbench_refuses_is_not(validator: Draft202012Validator, values: object) -> None:
    assert not validator.is_valid(values)
