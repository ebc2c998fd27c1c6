"""The memory of a run: what cannot fit is refused beside the field that causes it."""

import dataclasses
import tracemalloc
from typing import Any

import pytest

from tests.machines import GIB, LAPTOP, ONE_GPU, TWO_GPUS, machine
from workbench.config import Problem, RunConfig
from workbench.devices import Devices
from workbench.plan import PlanError, make_plan
from workbench.plan.plan import ARRAYS, DATASET, DataFacts

BILLION = 10**9
ONE = {"strategy": "one_device"}
REPEAT = {**ONE, "last_batch": "repeat"}
LONG_CALL = {**ONE, "steps_per_epoch": BILLION}
SMALL_GPU = machine(1 * GIB)
UNKNOWN = dataclasses.replace(LAPTOP, memory_bytes=None)


def problems(where: Devices = LAPTOP, facts: DataFacts | None = None, **fields: Any) -> Any:
    """Return the problems of a config; none if it can be planned."""
    try:
        make_plan(RunConfig(**fields), where, facts)
    except PlanError as error:
        return error.problems
    return ()


def problem(where: Devices = LAPTOP, **fields: Any) -> Problem:
    (only,) = problems(where, **fields)
    assert isinstance(only, Problem)
    return only


def largest(found: Problem) -> int:
    return int(found.rule.removeprefix("at most ").split(", because")[0].replace(",", ""))


def test_a_batch_above_the_examples_needs_the_choice_to_repeat_them() -> None:
    found = problem(**ONE, steps_per_epoch=3, global_batch_size=999_999_999)
    assert found.field == "global_batch_size"
    assert found.rule == "at most the 10,000 training examples"
    assert found.fix == 'Set it to 10000 or less, or set last_batch to "repeat".'
    assert not problems(**REPEAT, steps_per_epoch=3, global_batch_size=20_000)
    assert not problems(**ONE, steps_per_epoch=3, global_batch_size=10_000)


@pytest.mark.parametrize("steps", [None, 1])
def test_keep_takes_all_examples_as_one_short_batch(steps: int | None) -> None:
    kept = {**ONE, "last_batch": "keep", "global_batch_size": 999_999_999}
    assert not problems(**kept, steps_per_epoch=steps)
    assert problem(**kept, steps_per_epoch=2).fix.endswith('set last_batch to "repeat".')


def test_the_problem_names_memory_need_and_the_largest_value_that_fits() -> None:
    found = problem(**REPEAT, steps_per_epoch=3, global_batch_size=999_999_999)
    assert found.field == "global_batch_size"
    assert found.rule.endswith(", because more does not fit into this machine's 32 GiB of memory")
    assert found.got == "999,999,999, which needs at least 272 GiB"
    assert found.fix.startswith(f"Set it to {largest(found)} or less.")


@pytest.mark.parametrize(
    ("field", "value", "fields"),
    [
        ("global_batch_size", BILLION, REPEAT),
        ("per_replica_batch_size", BILLION, REPEAT),
        ("per_replica_batch_size", 10**6, {**REPEAT, "data": "fashion_mnist"}),
        ("per_replica_batch_size", 10**6, {**REPEAT, "data": "fashion_mnist", "model": "dense",
         "pipeline": "indexed", "replicas": 8, "strategy": "mirrored"}),
        ("synthetic_examples", BILLION, ONE),
        ("synthetic_examples", 2 * 10**8, {"pipeline": "numpy"}),
        ("synthetic_features", 10**7, ONE),
        ("replicas", 90_000, {"per_replica_batch_size": 1, "last_batch": "repeat"}),
        ("replicas", 20_000, {"data": "fashion_mnist", "per_replica_batch_size": 1}),
        ("workers", 5_000, {"strategy": "multi_worker_mirrored", "per_replica_batch_size": 1}),
        ("workers", 5_000, {"strategy": "parameter_server", "per_replica_batch_size": 1}),
        ("parameter_servers", BILLION, {"strategy": "parameter_server"}),
        ("steps_per_call", BILLION, LONG_CALL),
    ],
)  # fmt: skip
def test_each_field_has_a_largest_value_that_is_planned(
    field: str, value: int, fields: dict[str, Any]
) -> None:
    found = problem(**fields, **{field: value})
    assert found.field == field
    assert found.got.startswith(f"{value:,}, which needs at least ")
    most = largest(found)
    assert 1 < most < value
    assert not problems(**fields, **{field: most})
    replicas = fields.get("replicas", 1) if field == "global_batch_size" else 1
    (above,) = problems(**fields, **{field: most + replicas})
    assert above.field == field


def test_a_call_of_an_epoch_holds_no_more_steps_than_the_epoch() -> None:
    assert not problems(**ONE, steps_per_call=BILLION)
    assert problem(**LONG_CALL, steps_per_call="epoch").field == "steps_per_call"


def test_the_largest_global_batch_is_shared_by_the_replicas() -> None:
    fields = {"replicas": 7, "last_batch": "repeat"}
    most = largest(problem(**fields, global_batch_size=7 * BILLION))
    assert most % 7 == 0
    assert not problems(**fields, global_batch_size=most)


def test_fields_that_each_need_too_much_are_noted_together() -> None:
    found = problems(**REPEAT, synthetic_examples=BILLION, global_batch_size=BILLION)
    assert {each.field for each in found} == {"synthetic_examples", "global_batch_size"}
    assert not problems(**REPEAT, **{each.field: largest(each) // 2 for each in found})


def test_the_batches_of_gpus_are_in_their_own_memory() -> None:
    fields = {"data": "fashion_mnist", "per_replica_batch_size": 10_000}
    assert not problems(ONE_GPU, **fields)
    found = problem(SMALL_GPU, **fields)
    assert found.field == "per_replica_batch_size"
    assert found.rule.endswith(
        ", because more does not fit into each replica's 1 GiB of GPU memory"
    )
    assert not problems(SMALL_GPU, **fields | {"per_replica_batch_size": largest(found)})
    limited = problem(TWO_GPUS, **fields, gpu_memory=512)
    assert "each replica's 512 MiB of GPU memory" in limited.rule


def test_unknown_memory_refuses_nothing() -> None:
    assert not problems(UNKNOWN, **REPEAT, global_batch_size=BILLION)
    assert not problems(machine(None), **REPEAT, synthetic_features=10**5, global_batch_size=10**4)
    elsewhere = {**REPEAT, "launcher": "slurm", "global_batch_size": BILLION}
    assert not problems(**elsewhere)


def test_a_pod_has_the_memory_that_is_asked_for() -> None:
    pod = {"launcher": "kubernetes", "container": "image", "volume_claim": "runs"}
    fields = {**pod, **REPEAT, "global_batch_size": 10**7}
    assert not problems(**fields)
    found = problem(**fields, memory_gib_per_task=1)
    assert found.field == "global_batch_size"
    assert "a task's 1 GiB of memory" in found.rule


def test_own_data_counts_with_its_known_bytes(tmp_path: Any) -> None:
    file = tmp_path / "own.py"
    file.write_text("def load():\n    return ()\n\n\ndef build():\n    return None\n")
    own = {**ONE, "data": f"{file}:load", "model": f"{file}:build", "per_replica_batch_size": 9_000}
    arrays = DataFacts(ARRAYS, 9_000, 1_000, "images", example_bytes=2 * 10**6)
    facts = {
        "arrays": arrays,
        "dataset": dataclasses.replace(arrays, kind=DATASET),
        "unknown bytes": dataclasses.replace(arrays, example_bytes=0),
        "read from a script": dataclasses.replace(arrays, example=""),
    }
    most = {name: [*map(largest, problems(facts=each, **own))] for name, each in facts.items()}
    assert most.pop("arrays") < most.pop("dataset") < [9_000]
    assert set(map(tuple, most.values())) == {()}


@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("replicas", {"last_batch": "keep"}),
        ("workers", {"strategy": "multi_worker_mirrored", "pipeline": "files"}),
        ("parameter_servers", {"strategy": "parameter_server"}),
        ("per_replica_batch_size", REPEAT),
        ("global_batch_size", {"strategy": "tpu", "tpu": "mine", "replicas": 8}),
        ("data_files", {**ONE, "pipeline": "files"}),
        ("steps_per_call", ONE),
    ],
)
@pytest.mark.parametrize("where", [LAPTOP, UNKNOWN], ids=["known", "unknown"])
def test_absurd_sizes_are_planned_without_memory_for_them(
    field: str, fields: dict[str, Any], where: Devices
) -> None:
    tracemalloc.start()
    try:
        found = problems(where, **fields, **{field: 8 * 10**18})
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 10 * 2**20
    assert not found or field in {each.field for each in found}
