"""Fields with a wrong value: each problem has its rule, the value received, and the fix."""

import math
from pathlib import Path
from typing import Any

import pytest

from tests.machines import LAPTOP, TWO_GPUS
from workbench import catalog
from workbench.config import Problem, RunConfig
from workbench.plan import PlanError, make_plan

FILES = catalog.DATA["fashion_mnist"].files


def problems_of(**fields: Any) -> dict[str, Problem]:
    """Return the problems of a config, by field; each field has one problem."""
    with pytest.raises(PlanError) as caught:
        make_plan(RunConfig(**fields), LAPTOP)
    found = {problem.field: problem for problem in caught.value.problems}
    assert len(found) == len(caught.value.problems)
    assert all(problem.rule and problem.got and problem.fix for problem in found.values())
    return found


@pytest.mark.parametrize(
    ("field", "given", "nearest"),
    [
        ("strategy", "Mirored", "mirrored"),
        ("strategy", "OneDevice", "one_device"),
        ("loop", "Fit", "fit"),
        ("data", "mnist", "fashion_mnist"),
        ("model", "cnnn", "cnn"),
        ("cross_device_ops", "NCLL", "nccl"),
        ("optimizer", "adm", "adam"),
        ("pipeline", "index", "indexed"),
        ("last_batch", "keeep", "keep"),
        ("learning_rate_scaling", "squareroot", "square_root"),
        ("gpu_memory", "grow", "growth"),
    ],
)
def test_an_unknown_name_offers_the_nearest(field: str, given: str, nearest: str) -> None:
    problem = problems_of(**{field: given})[field]
    assert problem.got == given
    assert problem.fix == f"Did you mean {nearest}?"
    assert nearest in problem.rule


@pytest.mark.parametrize(
    "given", ["", "qqqqqq", "../mirrored", 'mirrored"; import os', "mirrored "]
)
def test_a_name_outside_the_table_is_refused(given: str) -> None:
    assert problems_of(strategy=given)["strategy"].fix.endswith((".", "?"))


@pytest.mark.parametrize("strategy", ["mirrored", "multi_worker_mirrored", "parameter_server"])
def test_catalogue_data_cannot_use_the_pipeline_cached(strategy: str) -> None:
    problem = problems_of(pipeline="cached", strategy=strategy)["pipeline"]
    assert problem.fix.startswith("Choose usual")


@pytest.mark.parametrize("value", [0, -1, -(10**30)])
@pytest.mark.parametrize(
    "field",
    [
        "replicas", "per_replica_batch_size", "global_batch_size", "epochs", "steps_per_epoch",
        "steps_per_call", "synthetic_examples", "synthetic_features",
    ],
)  # fmt: skip
def test_a_count_is_above_zero(field: str, value: int) -> None:
    problem = problems_of(**{field: value})[field]
    assert problem.rule == "a number above 0"
    assert problem.got == str(value)


@pytest.mark.parametrize("value", [0, -1])
@pytest.mark.parametrize("field", ["workers", "parameter_servers", "rendezvous_seconds"])
def test_processes_and_rendezvous_seconds_are_above_zero(field: str, value: int) -> None:
    problem = problems_of(strategy="parameter_server", **{field: value})[field]
    assert (problem.rule, problem.got) == ("a number above 0", str(value))


@pytest.mark.parametrize("value", [0.0, -0.1, math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("field", ["learning_rate", "clip_norm"])
def test_a_rate_is_finite_and_above_zero(field: str, value: float) -> None:
    problem = problems_of(**{field: value})[field]
    assert problem.rule == "a number above 0"
    assert problem.got == repr(value)


@pytest.mark.parametrize("value", [-0.1, math.nan, math.inf])
def test_noise_is_finite_and_may_be_zero(value: float) -> None:
    assert problems_of(synthetic_noise=value)["synthetic_noise"].got == repr(value)
    assert make_plan(RunConfig(synthetic_noise=0.0), LAPTOP).config.synthetic_noise == 0


@pytest.mark.parametrize("seed", [-1, 2**31, 10**40])
def test_a_seed_is_in_the_range_of_tensorflow(seed: int) -> None:
    assert problems_of(seed=seed)["seed"].rule == "from 0 to 2147483647"
    assert make_plan(RunConfig(seed=2**31 - 1), LAPTOP).config.seed == 2**31 - 1


@pytest.mark.parametrize("value", [0, -1, "", "everything"])
def test_gpu_memory_is_a_word_or_mebibytes(value: str | int) -> None:
    problem = problems_of(gpu_memory=value)["gpu_memory"]
    assert problem.rule == "growth, all, or MiB above 0"


def test_half_precision_floats_need_a_gpu() -> None:
    problem = problems_of(precision="mixed_float16")["precision"]
    assert (
        problem.rule
        == "float32, float64 or mixed_bfloat16 on a CPU: mixed_float16 takes minutes per step"
    )
    assert problem.fix == "Choose mixed_bfloat16, or float32."
    asked = RunConfig(precision="mixed_float16")
    assert make_plan(asked, TWO_GPUS).config == asked
    make_plan(RunConfig(precision="mixed_bfloat16"), LAPTOP)


def test_fit_cannot_clip_the_summed_gradient() -> None:
    problem = problems_of(loop="fit", clip_norm=1.0)["clip_norm"]
    assert problem.rule.startswith("empty with Keras fit")
    assert "loop custom" in problem.fix


def test_all_problems_are_found_together() -> None:
    found = problems_of(
        strategy="Mirored", loop="fitt", data="mnist", model="cn", devices=("GPU:7",), replicas=0,
        cross_device_ops="x", gpu_memory="x", per_replica_batch_size=-1, global_batch_size=0,
        last_batch="x", pipeline="x", epochs=0, steps_per_epoch=0, optimizer="x",
        learning_rate=math.nan, learning_rate_scaling="x", clip_norm=-1.0, steps_per_call=0,
        seed=-1,
    )  # fmt: skip
    assert len(found) == 20


def test_problems_of_devices_and_of_fields_are_found_together() -> None:
    found = problems_of(
        cross_device_ops="nccl", replicas=2, global_batch_size=7, epochs=0, optimizer="x"
    )
    assert set(found) == {"cross_device_ops", "global_batch_size", "epochs", "optimizer"}


def test_a_received_value_is_shown_on_one_line_with_limited_length() -> None:
    assert problems_of(strategy="a\nb\x1b[31m")["strategy"].got == r"'a\nb\x1b[31m'"
    assert len(problems_of(strategy="x" * 1000)["strategy"].got) == 120


def test_a_model_takes_only_its_data() -> None:
    problem = problems_of(data="fashion_mnist", model="mlp")["model"]
    assert problem.rule == "a model for fashion_mnist: dense, cnn, or one of your own"
    assert problem.fix == "Choose dense."


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    for name in FILES:
        (folder / name).touch()
    return folder


def test_a_data_folder_holds_every_file(data_dir: Path) -> None:
    config = RunConfig(data="fashion_mnist", data_dir=str(data_dir))
    assert make_plan(config, LAPTOP).config.data_dir == str(data_dir)
    (data_dir / FILES[1]).unlink()
    (data_dir / FILES[3]).unlink()
    (data_dir / FILES[3]).mkdir()
    problem = problems_of(data="fashion_mnist", data_dir=str(data_dir))["data_dir"]
    assert problem.got == f"no {FILES[1]}, {FILES[3]}"
    assert all(name in problem.rule for name in FILES)
    assert str(data_dir) in problem.fix


def test_a_data_folder_may_be_in_the_home_folder(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(data_dir.parent))
    make_plan(RunConfig(data="fashion_mnist", data_dir="~/data"), LAPTOP)


@pytest.mark.parametrize("given", ["/no/such/folder", "", "x" * 5000, "a\0b", "~nosuchuser/data"])
def test_an_unusable_data_folder_is_a_problem(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    problem = problems_of(data="fashion_mnist", data_dir=given)["data_dir"]
    assert problem.rule.startswith("a folder")


def test_data_without_files_needs_no_folder() -> None:
    make_plan(RunConfig(data="synthetic", data_dir="/no/such/folder"), LAPTOP)


def test_a_name_is_short() -> None:
    problem = problems_of(name="x" * 201)["name"]
    assert (problem.rule, problem.got) == ("at most 200 characters", "201 characters")


def test_an_epoch_has_no_more_steps_than_a_graph_can_count() -> None:
    problem = problems_of(steps_per_epoch=2**31)["steps_per_epoch"]
    assert problem.rule == "at most 2,147,483,647"
    assert "epochs" in problem.fix
