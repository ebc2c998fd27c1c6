"""How workers share the training data: refused configs, the arithmetic, and the notes."""

from typing import Any

import pytest

from tests.machines import LAPTOP
from workbench.config import Problem, RunConfig
from workbench.plan import Plan, PlanError, make_plan
from workbench.plan.sharding import (
    NOT_THE_SAME_AS_ALONE,
    NOT_THE_SAME_BATCHES,
    Sharding,
    read_per_step,
)


def plan(**fields: Any) -> Plan:
    return make_plan(RunConfig(**fields), LAPTOP)


def workers(**fields: Any) -> Plan:
    return plan(strategy="multi_worker_mirrored", **fields)


def problem(**fields: Any) -> Problem:
    with pytest.raises(PlanError) as caught:
        plan(**fields)
    (only,) = caught.value.problems
    return only


@pytest.mark.parametrize("strategy", ["default", "multi_worker_mirrored"])
@pytest.mark.parametrize("pipeline", ["usual", "indexed", "numpy"])
def test_data_in_memory_is_not_split_by_files(strategy: str, pipeline: str) -> None:
    found = problem(auto_shard="file", strategy=strategy, pipeline=pipeline)
    assert found.field == "auto_shard"
    assert found.rule == (
        f"auto, data or off with the pipeline {pipeline}, whose data is in memory"
    )
    assert found.fix == "Choose the pipeline files, or auto."
    plan(auto_shard="file", strategy=strategy, pipeline="files")


@pytest.mark.parametrize("policy", ["auto", "file"])
def test_every_worker_needs_its_own_file(policy: str) -> None:
    fields = {"strategy": "multi_worker_mirrored", "pipeline": "files", "workers": 3}
    found = problem(**fields, auto_shard=policy, data_files=2)
    assert (found.field, found.got) == ("data_files", "2")
    assert found.rule == "at least the 3 workers, because each reads its own files"
    assert found.fix == "Set it to 3 or more, or auto_shard to data."
    plan(**fields, auto_shard=policy, data_files=3)


@pytest.mark.parametrize("policy", ["data", "off"])
def test_workers_that_all_read_everything_share_one_file(policy: str) -> None:
    assert workers(pipeline="files", auto_shard=policy, data_files=1).config.data_files == 1


@pytest.mark.parametrize("value", [0, -1, -(10**30)])
def test_the_number_of_files_is_above_zero(value: int) -> None:
    found = problem(pipeline="files", data_files=value)
    assert (found.field, found.rule) == ("data_files", "a number above 0")


@pytest.mark.parametrize("strategy", ["mirrored", "multi_worker_mirrored"])
def test_no_file_is_empty(strategy: str) -> None:
    fields = {"strategy": strategy, "pipeline": "files", "global_batch_size": 2}
    for files in (11, 10**30):
        found = problem(**fields, synthetic_examples=10, data_files=files)
        assert (found.field, found.rule) == ("data_files", "at most the 10 training examples")
    plan(**fields, synthetic_examples=10, data_files=10)
    assert problem(data="fashion_mnist", pipeline="files", data_files=60_001).got == "60001"


@pytest.mark.parametrize("pipeline", ["usual", "indexed"])
def test_the_number_of_files_is_ignored_if_none_are_written(pipeline: str) -> None:
    plan(pipeline=pipeline, data_files=0)


def test_each_of_n_workers_has_every_nth_file() -> None:
    assert Sharding("file", 2, 8).shares(67) == [34, 33]
    assert Sharding("file", 2, 3).shares(67) == [23 + 22, 22]
    assert Sharding("file", 3, 4).shares(10) == [3 + 2, 3, 2]


@pytest.mark.parametrize(
    ("fields", "ending"),
    [
        ({"auto_shard": "file"}, "3 examples left out"),
        ({"auto_shard": "data"}, "3 examples left out"),
        ({"auto_shard": "off"}, "every worker takes the same 32"),
        ({"auto_shard": "off", "pipeline": "usual"}, "every worker takes the same 32"),
        ({"auto_shard": "off", "pipeline": "indexed"}, "3 examples left out"),
        ({"pipeline": "numpy"}, "3 examples left out"),
        ({"auto_shard": "data", "pipeline": "numpy"}, "3 examples left out"),
        ({"auto_shard": "off", "pipeline": "numpy"}, "every worker takes the same 32"),
        ({"last_batch": "repeat"}, "5 examples are taken again"),
        ({"data_files": 3},
         "of workers' own files 10 examples are taken again, 13 left out"),
        ({"data_files": 3, "auto_shard": "data"}, "3 examples left out"),
        ({"data_files": 3, "strategy": "mirrored"}, "3 examples left out"),
        ({"strategy": "mirrored", "auto_shard": "off"}, "3 examples left out"),
    ],
)  # fmt: skip
def test_the_arithmetic_shows_which_data_an_epoch_takes(
    fields: dict[str, Any], ending: str
) -> None:
    every = {"strategy": "multi_worker_mirrored", "pipeline": "files", **fields}
    made = plan(**every, synthetic_examples=67, global_batch_size=8)
    assert made.arithmetic.endswith(f" an epoch; {ending}")


@pytest.mark.parametrize(
    ("fields", "examples"),
    [
        ({}, 64),
        ({"auto_shard": "file"}, 64),
        ({"auto_shard": "off"}, 64),
        ({"auto_shard": "data"}, 128),
        ({"pipeline": "usual"}, 128),
        ({"pipeline": "usual", "auto_shard": "off"}, 64),
        ({"pipeline": "numpy"}, 128),
        ({"pipeline": "numpy", "auto_shard": "off"}, 64),
        ({"strategy": "mirrored", "auto_shard": "off"}, 128),
    ],
)
def test_a_worker_reads_its_part_of_a_batch_or_all_of_it(
    fields: dict[str, Any], examples: int
) -> None:
    every = {"strategy": "multi_worker_mirrored", "pipeline": "files", **fields}
    assert read_per_step(plan(**every, global_batch_size=128)) == examples


def test_notes_name_the_pipelines_with_other_batches() -> None:
    assert workers().notes == ()
    assert plan(pipeline="files").notes[-1] == NOT_THE_SAME_BATCHES
    assert workers(pipeline="numpy").notes == (NOT_THE_SAME_BATCHES,)
    assert workers(pipeline="files", auto_shard="data").notes == (NOT_THE_SAME_BATCHES,)
    assert workers(pipeline="files").notes == (NOT_THE_SAME_BATCHES, NOT_THE_SAME_AS_ALONE)


def test_asynchronous_workers_share_no_files() -> None:
    found = problem(strategy="parameter_server", pipeline="files")
    assert (found.field, found.got, found.fix) == ("pipeline", "files", "Choose usual.")
    made = plan(strategy="parameter_server", auto_shard="off")
    assert made.arithmetic == plan(strategy="parameter_server").arithmetic
