"""A script opens by the config that it carries; nothing is executed."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from tests.codegen.golden import CONFIGS, render
from tests.machines import FOUR_GPUS, LAPTOP, ONE_GPU, TWO_GPUS
from tests.scripts.edited import FASHION, SYNTHETIC, edited, edits, opened
from workbench import catalog
from workbench.codegen import render_script
from workbench.codegen.carried import BEGIN
from workbench.config import RunConfig
from workbench.devices import Devices
from workbench.plan import PlanError, make_plan
from workbench.scripts import ScriptError, read_script

TPU_VM = dataclasses.replace(LAPTOP, tpu_chips=4, tpu_kind="v5e", tensorflow_for_tpus=True)
MACHINES = {"laptop": LAPTOP, "one GPU": ONE_GPU, "two GPUs": TWO_GPUS, "four GPUs": FOUR_GPUS}
CATALOGUED = [name for name in CONFIGS if name != "own_model"]


def same_script(config: RunConfig, machine: Devices) -> None:
    """Check that the config's script opens to a config with the same script, on any machine."""
    text = render_script(make_plan(config, machine))
    script = read_script(text, machine)
    assert script.as_made
    assert script.edits == ""
    assert render_script(make_plan(script.config, machine)) == text
    assert render_script(make_plan(read_script(text).config, machine)) == text


def test_a_changed_data_folder_is_a_setting(tmp_path: Path) -> None:
    for name in catalog.DATA["fashion_mnist"].files:
        (tmp_path / name).touch()
    config = RunConfig(data="fashion_mnist", data_dir=str(tmp_path))
    text = render_script(make_plan(config, LAPTOP))
    script = read_script(text.replace(f'= "{tmp_path}"', f'= "{tmp_path}/elsewhere"'), LAPTOP)
    assert script.config.data_dir == f"{tmp_path}/elsewhere"
    assert script.edits == ""


@pytest.mark.parametrize("name", CATALOGUED)
def test_a_golden_script_opens_to_the_fields_of_its_config(name: str) -> None:
    script = read_script(render(name), LAPTOP)
    plan, again = (make_plan(config, LAPTOP) for config in (CONFIGS[name], script.config))
    assert dataclasses.replace(again, config=plan.config) == plan
    assert script.as_made


@pytest.mark.parametrize(
    "machine",
    [
        "laptop",
        *(pytest.param(name, marks=pytest.mark.slow) for name in MACHINES if name != "laptop"),
    ],
)
@pytest.mark.parametrize("strategy", [name for name in catalog.STRATEGIES if name != "tpu"])
def test_every_strategy_loop_and_pipeline_is_recovered(strategy: str, machine: str) -> None:
    opened_scripts = 0
    for loop in catalog.LOOPS:
        for pipeline in catalog.PIPELINES:
            config = RunConfig(strategy=strategy, loop=loop, pipeline=pipeline)
            try:
                make_plan(config, MACHINES[machine])
            except PlanError:
                continue
            same_script(config, MACHINES[machine])
            opened_scripts += 1
    assert opened_scripts >= 4


@pytest.mark.parametrize("loop", catalog.LOOPS)
@pytest.mark.parametrize("pipeline", [name for name in catalog.PIPELINES if name != "cached"])
def test_scripts_for_a_tpu_are_recovered_too(pipeline: str, loop: str) -> None:
    same_script(RunConfig(strategy="tpu", loop=loop, pipeline=pipeline), TPU_VM)


@pytest.mark.parametrize(
    "fields",
    [
        {"seed": 7, "epochs": 3, "eager": True},
        {"learning_rate": 0.01, "learning_rate_scaling": "linear", "replicas": 3},
        {"learning_rate": 0.01, "learning_rate_scaling": "square_root", "replicas": 3},
        {"optimizer": "momentum", "learning_rate": 0.5},
        {"optimizer": "sgd", "clip_norm": 2.0},
        {"last_batch": "repeat"},
        {"last_batch": "keep", "per_replica_batch_size": 48},
        {"steps_per_epoch": 20},
        {"steps_per_epoch": 500},
        {"steps_per_call": 5, "pipeline": "indexed"},
        {"steps_per_call": "epoch", "pipeline": "indexed"},
        {"steps_per_call": 1, "loop": "fit"},
        {"global_batch_size": 90, "replicas": 3},
        {"synthetic_examples": 4_000, "synthetic_features": 3, "synthetic_noise": 0.0},
        {"data": "fashion_mnist", "model": "dense"},
        {"precision": "float64"},
        {"precision": "mixed_bfloat16"},
        {"xla": True},
        {"deterministic": True, "precision": "float64"},
        {"xla": True, "loop": "fit", "strategy": "multi_worker_mirrored"},
        {"cross_device_ops": "hierarchical_copy"},
        {"pipeline": "files", "data_files": 3},
        {"strategy": "multi_worker_mirrored", "workers": 3, "communication": "ring",
         "bytes_per_pack": 4096},
        {"strategy": "multi_worker_mirrored", "pipeline": "files", "auto_shard": "file"},
        {"strategy": "multi_worker_mirrored", "auto_shard": "off"},
        {"strategy": "parameter_server", "workers": 3, "parameter_servers": 2, "evaluator": True},
        {"model": "my_package.models:build"},
        {"model": "my_package.models:build", "optimizer": "adam", "learning_rate": 0.1},
    ],
)  # fmt: skip
def test_every_field_of_a_script_is_recovered(fields: dict[str, Any]) -> None:
    same_script(RunConfig(**fields), LAPTOP)


@pytest.mark.parametrize("memory", ["growth", "all", 2048])
@pytest.mark.parametrize("devices", [("GPU:1",), ("GPU:1", "GPU:0"), ("CPU:0",)])
def test_devices_are_recovered_as_they_were_named(
    devices: tuple[str, ...], memory: str | int
) -> None:
    same_script(RunConfig(devices=devices, gpu_memory=memory), TWO_GPUS)


def test_values_that_this_machine_would_choose_are_left_to_the_plan() -> None:
    text = render_script(make_plan(RunConfig(), LAPTOP))
    assert read_script(text, LAPTOP).config == RunConfig()
    explicit = read_script(text).config
    assert (explicit.devices, explicit.replicas) == (("CPU:0",), 2)


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("EPOCHS = 9", {"epochs": 9}),
        ("SEED = 1", {"seed": 1}),
        ("LEARNING_RATE = 0.5", {"learning_rate": 0.5}),
        ("LEARNING_RATE = 1", {"learning_rate": 1.0}),
        ("STEPS_PER_EPOCH = 40", {"steps_per_epoch": 40}),
        ("STEPS_PER_EXECUTION = 1", {"steps_per_call": 1}),
        ("NUM_FEATURES = 4", {"synthetic_features": 4}),
        ("NOISE = 0", {"synthetic_noise": 0.0}),
        ("OPTIMIZER = tf.keras.optimizers.SGD  # called", {"optimizer": "sgd"}),
    ],
)
def test_a_constant_changed_by_hand_becomes_its_field(line: str, fields: dict[str, Any]) -> None:
    name = line.partition(" = ")[0]
    old = next(each for each in render(SYNTHETIC).splitlines() if each.startswith(f"{name} = "))
    script = opened(SYNTHETIC, (old, line))
    assert {field: getattr(script.config, field) for field in fields} == fields
    assert not script.as_made
    made = render_script(make_plan(script.config, LAPTOP))
    assert f"{name} = " in made
    assert read_script(made, LAPTOP).config == script.config


@pytest.mark.parametrize(
    ("fields", "old", "new", "changed"),
    [
        ({}, "ReductionToOneDevice()", "HierarchicalCopyAllReduce()",
         {"cross_device_ops": "hierarchical_copy"}),
        ({"replicas": 2}, "REPLICAS = 2", "REPLICAS = 4", {"replicas": 4}),
        ({"strategy": "multi_worker_mirrored"}, "WORKERS = 2", "WORKERS = 3", {"workers": 3}),
        ({"strategy": "multi_worker_mirrored", "pipeline": "files", "auto_shard": "file"},
         "AutoShardPolicy.FILE", "AutoShardPolicy.DATA", {"auto_shard": "data"}),
        ({"strategy": "multi_worker_mirrored"}, "CommunicationImplementation.AUTO",
         "CommunicationImplementation.RING", {"communication": "ring"}),
        ({"strategy": "parameter_server"}, "STEPS_PER_EXECUTION = 20", "STEPS_PER_EXECUTION = 3",
         {"steps_per_call": 3}),
        ({}, "NUM_TRAIN_EXAMPLES = 10_000", "NUM_TRAIN_EXAMPLES = 5_000",
         {"synthetic_examples": 5_000}),
    ],
)  # fmt: skip
def test_constants_of_places_and_of_tensorflow_become_fields_too(
    fields: dict[str, Any], old: str, new: str, changed: dict[str, Any]
) -> None:
    text = render_script(make_plan(RunConfig(**fields), LAPTOP))
    assert old in text
    config = read_script(text.replace(old, new)).config
    assert {field: getattr(config, field) for field in changed} == changed


@pytest.mark.parametrize(
    ("fields", "old", "new"),
    [
        ({"cross_device_ops": "hierarchical_copy"}, "tf.distribute.HierarchicalCopyAllReduce()",
         "tf.distribute.NcclAllReduce(num_packs=2)"),
        ({"strategy": "multi_worker_mirrored", "communication": "ring"},
         "tf.distribute.experimental.CommunicationOptions(", "dict("),
        ({"strategy": "multi_worker_mirrored", "communication": "ring"},
         "tf.distribute.experimental.CommunicationImplementation.RING", "chosen"),
    ],
)  # fmt: skip
def test_an_expression_that_is_no_value_of_its_field_sets_none_and_stays_an_edit(
    fields: dict[str, Any], old: str, new: str
) -> None:
    text = render_script(make_plan(RunConfig(**fields), LAPTOP))
    assert old in text
    script = read_script(text.replace(old, new), LAPTOP)
    assert {field: getattr(script.config, field) for field in fields} == fields
    assert any(line.startswith("+") and new in line for line in edits(script))


OF_ALL = "GLOBAL_BATCH_SIZE = PER_REPLICA_BATCH_SIZE * REPLICAS"


def test_a_changed_batch_size_counts_and_what_follows_from_it_is_no_edit() -> None:
    script = opened(FASHION, ("PER_REPLICA_BATCH_SIZE = 64", "PER_REPLICA_BATCH_SIZE = 32"))
    assert script.config.per_replica_batch_size == 32
    assert not any("GLOBAL_BATCH_SIZE" in line for line in edits(script))
    script = opened(FASHION, (OF_ALL, "GLOBAL_BATCH_SIZE = 256"))
    assert script.config.global_batch_size == 256


def test_of_two_changed_batch_sizes_that_of_a_replica_counts() -> None:
    of_a_replica = ("PER_REPLICA_BATCH_SIZE = 64", "PER_REPLICA_BATCH_SIZE = 16")
    config = opened(FASHION, of_a_replica, (OF_ALL, "GLOBAL_BATCH_SIZE = 100")).config
    assert (config.per_replica_batch_size, config.global_batch_size) == (16, None)


def test_an_impossible_value_is_left_to_the_form() -> None:
    script = opened(FASHION, ("EPOCHS = 2", "EPOCHS = -2"))
    assert script.config.epochs == -2
    with pytest.raises(PlanError, match="epochs must be"):
        make_plan(script.config, LAPTOP)


def test_a_value_of_a_wrong_type_sets_no_field_and_stays_an_edit() -> None:
    script = opened(FASHION, ("EPOCHS = 2", 'EPOCHS = "two"'))
    assert script.config.epochs == 2
    assert any(line.startswith('+EPOCHS = "two"') for line in edits(script))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("manager.save()", "manager.save()\n        print('done')"),
        ("cross_device_ops=CROSS_DEVICE_OPS", "cross_device_ops=None"),
        ("def main(", "def helper():\n    return 1\n\n\ndef main("),
        ("import tensorflow", "import json\n\nimport tensorflow"),
        ("max_to_keep=3", "max_to_keep=5"),
        ("NUM_TRAIN_EXAMPLES = 60_000", "NUM_TRAIN_EXAMPLES = 1_000"),
        ("tf.keras.layers.Dense(64,", "tf.keras.layers.Dense(65,"),
    ],
)
def test_edits_without_a_field_are_the_difference_and_all_else_is_understood(
    old: str, new: str
) -> None:
    script = opened(FASHION, (old, new))
    added = "\n".join(line[1:] for line in edits(script) if line.startswith("+"))
    assert all(line.strip() in added for line in new.splitlines() if line not in old)
    assert script.config == dataclasses.replace(RunConfig(), data="fashion_mnist", epochs=2)
    assert script.kept == ()
    assert script.text == edited(FASHION, (old, new))


def test_code_below_the_config_is_an_edit_too() -> None:
    script = read_script(f"{render(FASHION)}print('done')\n", LAPTOP)
    assert not script.as_made
    assert edits(script) == ["+print('done')"]


def test_windows_line_ends_are_no_edit() -> None:
    assert read_script(render(FASHION).replace("\n", "\r\n"), LAPTOP).as_made


@pytest.mark.parametrize(
    ("text", "rule", "got"),
    [
        ("print('hello')\n", "a script that carries its config", "a text without such a comment"),
        ("", "a script that carries its config", "a text without such a comment"),
        (f"{BEGIN}{{}}\n", "a script whose config this release can read", "'sha256'"),
        (f"{BEGIN}[1]\n", "a script whose config this release can read", "list"),
        (f"{BEGIN}{{\n", "a script whose config this release can read", "Expecting"),
        (f'{BEGIN}{{"sha256": "", "config": {{"speed": 3}}}}\n', "a script whose config", "speed"),
        (f'{BEGIN}{{"sha256": "", "own": {{"model": "a(b)"}}, "config": {{}}}}\n',
         "a script whose config", "no names of functions"),
        ("def main(:\n", "valid Python", "line 1"),
        ("\x00", "valid Python", "null bytes"),
    ],
)  # fmt: skip
def test_a_text_that_is_no_workbench_script_is_refused_in_three_parts(
    text: str, rule: str, got: str
) -> None:
    with pytest.raises(ScriptError) as raised:
        read_script(text)
    (problem,) = raised.value.problems
    assert problem.field == "script"
    assert problem.rule.startswith(rule)
    assert got in problem.got
    assert problem.fix


def test_reading_a_script_executes_nothing(tmp_path: Any) -> None:
    mark = tmp_path / "ran"
    code = f"import pathlib\n\npathlib.Path({str(mark)!r}).touch()\n\n\ndef make_strategy"
    opened(FASHION, ("def make_strategy", code))
    assert not mark.exists()
