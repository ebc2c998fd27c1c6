"""Training on a TPU, with the stand-in: nothing here has run on a real TPU."""

import dataclasses
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.engine.training import ask_model
from tests.machines import LAPTOP, TPU_STAND_IN, TPU_VM
from tests.waiting import LIMIT_SECONDS
from workbench.config import Problem, RunConfig
from workbench.devices import Devices
from workbench.plan import Plan, PlanError, make_plan
from workbench.plan.plan import DataFacts
from workbench.runs import Run, start_run
from workbench.runs.programs.inspection import inspect_model

PREFIX = "stand-in for a TPU: "


TRAINING = RunConfig(
    strategy="one_device", global_batch_size=64, epochs=2, synthetic_examples=700, start_now=True
)


@pytest.fixture(scope="module")
def interpreter(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Python whose TensorFlow finds the stand-in."""
    path = tmp_path_factory.mktemp("stand-in") / "python"
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{TPU_STAND_IN}" "$@"\n')
    path.chmod(0o755)
    return str(path)


@pytest.fixture(scope="module")
def standard(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The same training on one device."""
    return finished(start_run(TRAINING, tmp_path_factory.mktemp("standard"), LAPTOP))


def planned(machine: Devices, **fields: Any) -> Plan:
    return make_plan(RunConfig(strategy="tpu", **fields), machine)


def problem(machine: Devices, **fields: Any) -> Problem:
    with pytest.raises(PlanError) as caught:
        planned(machine, **fields)
    (only,) = caught.value.problems
    return only


def finished(run: Run) -> Run:
    assert run.wait(LIMIT_SECONDS) == "finished", run.failure
    return run


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pipeline", "loop"),
    [
        pytest.param("usual", "custom", marks=pytest.mark.promise),
        ("usual", "fit"),
        ("indexed", "custom"),
        ("indexed", "fit"),
    ],
)
def test_a_run_on_the_cores_of_a_tpu_trains_like_a_run_on_one_device(
    tmp_path: Path, interpreter: str, standard: Run, pipeline: str, loop: str
) -> None:
    config = dataclasses.replace(
        TRAINING, strategy="tpu", loop=loop, pipeline=pipeline, interpreter=interpreter
    )
    run = finished(start_run(config, tmp_path, TPU_VM))
    losses = [each.steps()["loss"].to_numpy() for each in (run, standard)]
    np.testing.assert_allclose(*losses, rtol=0, atol=1e-6)
    tests = [each.epochs()["test_loss"].to_numpy() for each in (run, standard)]
    np.testing.assert_allclose(*tests, rtol=0, atol=2e-6)
    lines = [line for line in run.log().splitlines() if line.startswith(PREFIX)]
    calls = [line.removeprefix(PREFIX) for line in lines]
    assert calls == ["resolve local", "connect", "initialize", "strategy"]
    assert (run.replica_steps()["examples"] == 32).all()


@pytest.mark.slow
def test_a_run_in_mixed_bfloat16_keeps_its_variables_in_single_precision(
    tmp_path: Path, interpreter: str
) -> None:
    config = dataclasses.replace(
        TRAINING, strategy="tpu", precision="mixed_bfloat16", interpreter=interpreter
    )
    run = finished(start_run(config, tmp_path, TPU_VM))
    assert np.isfinite(run.steps()["loss"]).all()
    dtypes = ask_model(run, "[[each.variable_dtype, each.compute_dtype] for each in model.layers]")
    assert {tuple(each) for each in dtypes} == {("float32", "bfloat16")}


def test_a_machine_without_a_tpu_is_refused() -> None:
    with pytest.raises(PlanError, match="no TPU here"):
        make_plan(RunConfig(strategy="tpu"), LAPTOP)


@pytest.mark.parametrize(("kind", "cores"), [("v3", 4), ("v4", 2), ("v5e", 2), (None, 2)])
def test_a_replica_is_a_core(kind: str | None, cores: int) -> None:
    plan = make_plan(RunConfig(strategy="tpu"), dataclasses.replace(TPU_VM, tpu_kind=kind))
    assert plan.num_replicas_in_sync == cores
    assert not plan.virtual


def test_a_named_tpu_needs_its_number_of_cores() -> None:
    with pytest.raises(PlanError, match="number of cores of my-tpu"):
        make_plan(RunConfig(strategy="tpu", tpu="my-tpu"), LAPTOP)
    plan = make_plan(RunConfig(strategy="tpu", tpu="my-tpu", replicas=8), LAPTOP)
    assert plan.num_replicas_in_sync == 8


def test_all_training_and_test_batches_have_one_size() -> None:
    plan = make_plan(RunConfig(strategy="tpu", tpu="my-tpu", replicas=8), LAPTOP)
    assert plan.num_test_examples % plan.test_batch_size == 0
    assert plan.test_batch_size % 8 == 0
    found = problem(LAPTOP, tpu="my-tpu", replicas=8, last_batch="keep")
    assert (found.field, found.fix) == ("last_batch", "Choose drop or repeat.")


@pytest.mark.parametrize(("examples", "nearest"), [(10_001 * 5, 50_000), (30, 40), (1, 40)])
def test_for_uneven_test_batches_the_nearest_number_of_examples_is_suggested(
    examples: int, nearest: int
) -> None:
    fields = {"tpu": "my-tpu", "replicas": 8, "global_batch_size": 8, "last_batch": "repeat"}
    found = problem(LAPTOP, **fields, synthetic_examples=examples)
    assert found.field == "synthetic_examples"
    assert found.rule == (
        "a multiple of 40, because a fifth are test examples, and a TPU needs as many of them in "
        "each of its 8 replicas"
    )
    assert found.fix == f"Set it to {nearest}."
    planned(LAPTOP, **fields, synthetic_examples=nearest)


def test_data_whose_test_examples_do_not_divide_among_the_cores_is_refused() -> None:
    found = problem(LAPTOP, tpu="my-tpu", replicas=32, data="fashion_mnist")
    assert (found.field, found.got) == ("data", "fashion_mnist, which has 10,000")
    assert found.rule == "a data set whose number of test examples is a multiple of the 32 replicas"
    assert found.fix == "Choose synthetic, or a TPU whose number of cores divides that."
    planned(LAPTOP, tpu="my-tpu", replicas=16, data="fashion_mnist")


def planned_with(examples: int, tests: int = 0, **fields: object) -> Plan:
    facts = DataFacts("arrays", examples, tests, "features (10,) float32", 40)
    own = {"data": "data:load", "model": "model:build", "per_replica_batch_size": 1}
    return make_plan(RunConfig(strategy="tpu", tpu="my-tpu", **own, **fields), LAPTOP, facts)


def problem_with(examples: int, tests: int = 0, **fields: object) -> Problem:
    with pytest.raises(PlanError) as caught:
        planned_with(examples, tests, **fields)
    (found,) = caught.value.problems
    return found


@pytest.mark.parametrize(
    ("examples", "share", "replicas"),
    [(8005, 0.2, 8), (5125, 0.29, 8), (61, 0.5, 8), (1000, 0.01, 8), (1000, 0.99, 8)],
)
def test_a_share_to_test_on_that_does_not_divide_among_the_cores_is_mended(
    examples: int, share: float, replicas: int
) -> None:
    fields = {"replicas": replicas, "validation_split": share}
    found = problem_with(examples, **fields)
    assert found.field == "validation_split"
    mended = float(found.fix.removeprefix("Set it to ").removesuffix("."))
    plan = planned_with(examples, **{**fields, "validation_split": mended})
    assert plan.num_test_examples % replicas == 0
    assert abs(mended - share) * examples <= replicas


def test_if_no_share_divides_among_the_cores_more_data_are_needed() -> None:
    found = problem_with(8, replicas=8, validation_split=0.12, last_batch="repeat")
    assert (found.field, found.fix) == ("data", "Return 8 or more of them.")


def test_own_data_is_to_return_as_many_tests_as_divide_among_the_cores() -> None:
    assert problem_with(640, 100, replicas=8).fix.startswith("Return 96 of them, or choose a TPU")
    assert problem_with(640, 5, replicas=8).fix == "Return 8 or more of them."


def test_a_tensorflow_without_tpu_support_is_refused_before_the_start_if_that_is_known() -> None:
    found = problem(dataclasses.replace(TPU_VM, tensorflow_for_tpus=False))
    assert found.field == "strategy"
    assert found.rule.endswith("it was built without TPU support")
    assert "tensorflow-tpu" in found.fix
    assert LAPTOP.interpreter in found.fix
    for known in (True, None):
        planned(dataclasses.replace(TPU_VM, tensorflow_for_tpus=known))
    elsewhere = dataclasses.replace(LAPTOP, tensorflow_for_tpus=False)
    planned(elsewhere, tpu="my-tpu", replicas=8)


def test_the_inspection_of_a_model_takes_no_tpu(tmp_path: Path) -> None:
    """A stand-in for an interpreter records the path where it would look for libtpu."""
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho "$TPU_LIBRARY_PATH" > "{tmp_path}/libtpu-path"\nexit 1\n')
    python.chmod(0o755)
    with pytest.raises(PlanError):
        inspect_model(planned(TPU_VM, interpreter=str(python)))
    assert not Path((tmp_path / "libtpu-path").read_text().strip()).exists()
    assert (tmp_path / "libtpu-path").read_text().startswith("/")
