"""Batch sizes, steps, and the use of the examples that do not fill a batch."""

from pathlib import Path
from typing import Any

import pytest

from tests.machines import FOUR_GPUS, LAPTOP, TWO_GPUS
from workbench.config import Problem, RunConfig
from workbench.devices import Devices
from workbench.plan import Plan, PlanError, make_plan
from workbench.plan.batches import split
from workbench.plan.plan import even_batch

OWN = f"{Path(__file__).parents[1] / 'engine' / 'own_models.py'}:plain"


def plan(machine: Devices = LAPTOP, **fields: Any) -> Plan:
    return make_plan(RunConfig(**fields), machine)


def problem(machine: Devices = LAPTOP, **fields: Any) -> Problem:
    with pytest.raises(PlanError) as caught:
        plan(machine, **fields)
    (only,) = caught.value.problems
    return only


@pytest.mark.parametrize(
    ("fields", "sizes"),
    [
        ({}, (64, 128)),
        ({"per_replica_batch_size": 16}, (16, 32)),
        ({"global_batch_size": 16}, (8, 16)),
        ({"per_replica_batch_size": 16, "global_batch_size": 32}, (16, 32)),
        ({"global_batch_size": 16, "strategy": "one_device"}, (16, 16)),
        ({"global_batch_size": 15, "replicas": 3}, (5, 15)),
    ],
)
def test_the_two_sizes_are_linked_by_the_replicas(
    fields: dict[str, Any], sizes: tuple[int, int]
) -> None:
    made = plan(**fields)
    assert (made.per_replica_batch_size, made.global_batch_size) == sizes


def test_a_global_size_that_replicas_cannot_share_names_the_two_nearest() -> None:
    found = problem(FOUR_GPUS, global_batch_size=130)
    assert found.field == "global_batch_size"
    assert found.rule == "a multiple of the 4 replicas"
    assert found.got == "130"
    assert found.fix == "Set it to 128 or 132."


def test_a_size_below_the_replicas_has_one_nearest_size() -> None:
    assert problem(FOUR_GPUS, global_batch_size=3).fix == "Set it to 4."


def test_two_sizes_that_contradict_each_other_are_a_problem() -> None:
    found = problem(TWO_GPUS, per_replica_batch_size=16, global_batch_size=64)
    assert found.rule == "the per-replica batch size x 2 replicas"
    assert found.got == "64 with 16 per replica"
    assert found.fix == "Set global_batch_size to 32, or give only one of the two."


@pytest.mark.parametrize(
    ("fields", "field", "fix"),
    [
        ({"global_batch_size": 128}, "global_batch_size", "Set it to 100 or less"),
        ({"per_replica_batch_size": 51}, "per_replica_batch_size", "Set it to 50 or less"),
        ({}, "per_replica_batch_size", "Set it to 50 or less"),
        ({"replicas": 128}, "global_batch_size", "Set fewer replicas"),
    ],
)
def test_a_batch_larger_than_the_data_names_the_largest_that_fits(
    fields: dict[str, Any], field: str, fix: str
) -> None:
    found = problem(synthetic_examples=100, **fields)
    assert found.field == field
    assert found.fix == f'{fix}, or set last_batch to "keep" or "repeat".'
    assert "100 training examples" in found.rule


@pytest.mark.parametrize("last_batch", ["keep", "repeat"])
def test_a_batch_larger_than_the_data_can_be_kept_or_filled(last_batch: str) -> None:
    made = plan(synthetic_examples=100, global_batch_size=128, last_batch=last_batch)
    assert (made.steps_per_epoch, made.last_batch) == (1, last_batch)


@pytest.mark.parametrize(
    ("last_batch", "steps", "left", "ending"),
    [
        ("drop", 78, 16, "16 examples left out"),
        ("keep", 79, 16, "the last step takes the 16 left"),
        ("repeat", 79, 16, "112 examples are taken again"),
    ],
)
def test_the_last_batch_is_dropped_kept_or_filled(
    last_batch: str, steps: int, left: int, ending: str
) -> None:
    made = plan(last_batch=last_batch)
    assert (made.steps_per_epoch, made.leftover_examples) == (steps, left)
    assert made.last_batch == last_batch
    assert made.arithmetic == (
        f"64 per replica x 2 replicas = 128 per step; 10,000 examples, {steps} steps an epoch; "
        f"{ending}"
    )
    assert made.total_steps == steps * 5


@pytest.mark.parametrize("last_batch", ["drop", "keep", "repeat"])
def test_full_batches_need_no_choice_for_the_last_batch(last_batch: str) -> None:
    made = plan(global_batch_size=100, last_batch=last_batch)
    assert (made.steps_per_epoch, made.leftover_examples, made.last_batch) == (100, 0, "drop")
    assert made.arithmetic.endswith("every example once")


@pytest.mark.parametrize(
    ("steps", "last_batch", "resolved", "leftover", "ending"),
    [
        (10, "drop", "drop", 8_720, "8,720 examples left out"),
        (10, "keep", "drop", 8_720, "8,720 examples left out"),
        (78, "repeat", "drop", 16, "16 examples left out"),
        (79, "drop", "repeat", 16, "112 examples are taken again"),
        (79, "keep", "keep", 16, "the last step takes the 16 left"),
        (80, "keep", "repeat", 16, "240 examples are taken again"),
        (200, "repeat", "repeat", 16, "15,600 examples are taken again"),
    ],
)
def test_steps_per_epoch_may_leave_out_data_or_repeat_it(
    steps: int, last_batch: str, resolved: str, leftover: int, ending: str
) -> None:
    made = plan(steps_per_epoch=steps, last_batch=last_batch)
    assert (made.steps_per_epoch, made.last_batch) == (steps, resolved)
    assert made.leftover_examples == leftover
    assert made.arithmetic.endswith(ending)


@pytest.mark.parametrize(
    ("examples", "most", "replicas", "size"),
    [(2_000, 128, 2, 100), (12, 7, 2, 6), (45, 20, 3, 15), (4, 2, 4, 4), (9, 8, 1, 3)],
)
def test_a_test_batch_divides_the_examples_and_the_replicas_divide_it(
    examples: int, most: int, replicas: int, size: int
) -> None:
    assert even_batch(examples, most, replicas) == size


def test_a_short_last_batch_has_an_example_for_each_replica() -> None:
    found = problem(FOUR_GPUS, synthetic_examples=1026, global_batch_size=64, last_batch="keep")
    assert found.field == "last_batch"
    assert found.got == "keep with 2 examples left, which TensorFlow splits into 1, 1, 0, 0"
    made = plan(FOUR_GPUS, synthetic_examples=1028, global_batch_size=64, last_batch="keep")
    assert made.leftover_examples == 4


def test_a_short_batch_is_split_into_rounded_up_pieces_as_in_tensorflow() -> None:
    assert [split(rest, 3) for rest in (4, 5, 7, 2)] == [[2, 2, 0], [2, 2, 1], [3, 3, 1], [1, 1, 0]]
    found = problem(synthetic_examples=79, global_batch_size=15, replicas=3, last_batch="keep")
    assert found.field == "last_batch"
    assert found.got == "keep with 4 examples left, which TensorFlow splits into 2, 2, 0"


def test_fit_needs_equal_parts_of_a_short_batch_because_keras_weighs_them_equally() -> None:
    short = {"synthetic_examples": 80, "global_batch_size": 15, "replicas": 3, "last_batch": "keep"}
    assert split(80 % 15, 3) == [2, 2, 1]
    found = problem(**short, loop="fit")
    assert found.field == "last_batch"
    assert found.got == "keep with 5 examples left, split into 2, 2, 1"
    assert problem(**short, loop="fit", model=OWN) == found
    assert plan(**short, loop="custom", model=OWN).last_batch == "keep"
    assert plan(**short, loop="custom").last_batch == "keep"
    assert plan(**{**short, "synthetic_examples": 81}, loop="fit").last_batch == "keep"


@pytest.mark.parametrize("pipeline", ["indexed", "files"])
@pytest.mark.parametrize("strategy", ["mirrored", "multi_worker_mirrored"])
def test_the_pipelines_indexed_and_files_need_full_batches(pipeline: str, strategy: str) -> None:
    found = problem(last_batch="keep", pipeline=pipeline, strategy=strategy)
    assert found.field == "last_batch"
    assert f"{pipeline} pipeline" in found.rule
    assert found.fix == "Choose drop or repeat, or the usual pipeline."


def test_fashion_mnist_has_its_published_sizes() -> None:
    made = plan(data="fashion_mnist", per_replica_batch_size=16)
    assert (made.num_train_examples, made.num_test_examples) == (60_000, 10_000)
    assert (made.steps_per_epoch, made.leftover_examples) == (1875, 0)


def test_a_fifth_as_many_synthetic_examples_are_test_examples() -> None:
    assert plan().num_test_examples == 2_000
    tiny = plan(synthetic_examples=2, per_replica_batch_size=1)
    assert (tiny.num_test_examples, tiny.steps_per_epoch) == (1, 1)
