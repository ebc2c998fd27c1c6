"""Tests of the config: to and from JSON, and its types."""

import dataclasses
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workbench import catalog
from workbench.config import CONFIG_VERSION, ConfigError, Problem, RunConfig, did_you_mean

EVERY_FIELD = RunConfig(
    name='a "name"\n# with\\nlines',
    strategy="one_device",
    loop="fit",
    data="fashion_mnist",
    model="cnn",
    step="my_steps.py:train_step",
    devices=("GPU:0", "GPU:2"),
    replicas=2,
    workers=3,
    parameter_servers=2,
    evaluator=True,
    tpu="my-tpu",
    cross_device_ops="nccl",
    communication="ring",
    bytes_per_pack=1024,
    gpu_memory=2048,
    per_replica_batch_size=16,
    global_batch_size=32,
    last_batch="keep",
    pipeline="indexed",
    auto_shard="data",
    data_files=4,
    epochs=3,
    steps_per_epoch=7,
    optimizer="sgd",
    learning_rate=0.5,
    learning_rate_scaling="linear",
    clip_norm=1.5,
    precision="float64",
    xla=True,
    steps_per_call=2,
    eager=True,
    deterministic=True,
    seed=7,
    data_dir="/data",
    validation_split=0.2,
    synthetic_examples=11,
    synthetic_features=3,
    synthetic_noise=0.0,
    rendezvous_seconds=30,
    interpreter="/usr/bin/python3",
    gradient_norms=True,
    start_now=True,
    start="cold",
    launcher="slurm",
    nodes=2,
    cpus_per_task=4,
    gpus_per_task=1,
    time_limit_minutes=90,
    partition="gpu",
    account="mine",
    job_setup="module load cuda",
    restarts=2,
    ray_address="10.0.0.1:6379",
    container="/image.sif",
    kubernetes_kind="jobset",
    namespace="research",
    volume_claim="runs",
    volume_path="of-mine",
    node_selector="kubernetes.io/arch=amd64",
    memory_gib_per_task=8,
    tpus_per_task=4,
    archive="/archive",
)


def problems_of(values: dict[str, Any]) -> dict[str, Problem]:
    """Return the problems of a config in JSON, by field."""
    with pytest.raises(ConfigError) as caught:
        RunConfig.from_json(values)
    return {problem.field: problem for problem in caught.value.problems}


@pytest.mark.parametrize("config", [RunConfig(), EVERY_FIELD])
def test_a_config_survives_json(config: RunConfig) -> None:
    written = json.loads(json.dumps(config.to_json()))
    assert RunConfig.from_json(written) == config
    assert written["version"] == CONFIG_VERSION == 1
    assert next(iter(written)) == "version"


def test_the_example_sets_every_field_to_another_value_than_its_default() -> None:
    default = dataclasses.asdict(RunConfig())
    assert not [k for k, v in dataclasses.asdict(EVERY_FIELD).items() if v == default[k]]


def test_missing_fields_have_their_defaults() -> None:
    assert RunConfig.from_json({"epochs": 2}) == RunConfig(epochs=2)
    assert RunConfig.from_json({}) == RunConfig()


def test_a_config_is_frozen_and_hashable() -> None:
    assert hash(RunConfig(epochs=2)) == hash(RunConfig(epochs=2))
    with pytest.raises(dataclasses.FrozenInstanceError):
        RunConfig().epochs = 3  # type: ignore[misc]


@pytest.mark.parametrize("version", [CONFIG_VERSION + 1, 0, "1", 1.0, True, None])
def test_only_configs_of_a_known_version_are_read(version: object) -> None:
    found = problems_of({"version": version, "from_the_future": 1})
    assert list(found) == ["version"]
    assert found["version"].got == repr(version)
    assert "Install the release that wrote it" in found["version"].fix


def test_each_unknown_field_is_named_with_the_nearest_known_field() -> None:
    found = problems_of({"epoch": 3, "per_replica_batchsize": 8, "zzz": 1, "seed": 1})
    assert {name: problem.fix for name, problem in found.items()} == {
        "epoch": "Did you mean epochs?",
        "per_replica_batchsize": "Did you mean per_replica_batch_size?",
        "zzz": "Remove it.",
    }


@pytest.mark.parametrize("values", [[], "epochs", 3, None])
def test_a_config_in_json_is_an_object(values: Any) -> None:
    found = problems_of(values)
    assert found["config"].rule == "a JSON object"
    assert found["config"].got == repr(values)


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("epochs", "5", "a whole number"),
        ("epochs", 5.0, "a whole number"),
        ("epochs", True, "a whole number"),
        ("epochs", None, "a whole number"),
        ("replicas", 2.5, "a whole number or None"),
        ("learning_rate", "0.1; import os", "a number"),
        ("learning_rate", False, "a number"),
        ("learning_rate", 10**400, "a number"),
        ("clip_norm", [1.0], "a number or None"),
        ("eager", 1, "true or false"),
        ("eager", "yes", "true or false"),
        ("strategy", None, "text"),
        ("strategy", ["mirrored"], "text"),
        ("data_dir", b"bytes", "text or None"),
        ("name", "\udcff", "text"),
        ("gpu_memory", 1.5, "text or a whole number"),
        ("devices", "GPU:0", "a list of names or None"),
        ("devices", [0], "a list of names or None"),
        ("devices", {"GPU:0": 1}, "a list of names or None"),
    ],
)
def test_a_value_of_another_type_is_a_problem_of_its_field(
    field: str, value: Any, rule: str
) -> None:
    found = problems_of({field: value})
    assert found[field].rule == rule
    assert found[field].got == (repr(value) if len(repr(value)) < 80 else repr(value)[:77] + "...")
    with pytest.raises(ConfigError):
        RunConfig(**{field: value})


def test_all_wrong_types_are_named_together() -> None:
    found = problems_of({"epochs": "5", "eager": 1, "devices": "GPU:0", "seed": 3})
    assert set(found) == {"epochs", "eager", "devices"}


def test_numpy_values_and_paths_become_plain_values() -> None:
    config = RunConfig(
        epochs=np.int64(3),
        learning_rate=np.float32(0.5),
        clip_norm=1,
        data_dir=Path("/data"),
        name=np.str_("a run"),
        devices=["GPU:0"],  # type: ignore[arg-type]
        gpu_memory=np.int32(100),
    )
    values = [getattr(config, field.name) for field in dataclasses.fields(config)]
    assert {type(value) for value in values} <= {str, int, float, bool, tuple, type(None)}
    assert config == RunConfig(
        epochs=3, learning_rate=0.5, clip_norm=1.0, data_dir="/data", name="a run",
        devices=("GPU:0",), gpu_memory=100,
    )  # fmt: skip


def test_a_config_does_not_check_values() -> None:
    config = RunConfig(epochs=-1, learning_rate=math.nan, strategy="none such")
    assert math.isnan(RunConfig.from_json(config.to_json()).learning_rate)


def test_a_problem_reads_as_a_sentence() -> None:
    problem = Problem("epochs", "a number above 0", "0", "Set it to 5, for example.")
    assert str(problem) == "epochs must be a number above 0; got 0. Set it to 5, for example."
    assert str(ConfigError([problem, problem])) == f"{problem}\n{problem}"


def test_the_nearest_name_is_found_in_any_case() -> None:
    assert did_you_mean("MIRORED", catalog.STRATEGIES, "no") == "Did you mean mirrored?"
    assert did_you_mean("qqq", catalog.STRATEGIES, "no") == "no"


def test_a_value_of_a_wrong_type_is_answered_with_one_that_is_accepted() -> None:
    names = [field.name for field in dataclasses.fields(RunConfig)]
    problems = problems_of({name: {} for name in names})
    assert list(problems) == names
    for name, problem in problems.items():
        match = re.fullmatch(rf"Set {name} to (.+), for example\.", problem.fix)
        assert match is not None
        RunConfig.from_json({name: json.loads(match[1])})
