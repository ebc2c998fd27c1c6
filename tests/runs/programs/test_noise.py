"""The runs whose gradient noise cannot be measured; the joined results of several tasks."""

import math
from typing import Any

import pytest

from tests.runs.run_folders import Runs, replan
from tests.widgets.folders import write_run
from workbench import RunConfig
from workbench.runs import RunError
from workbench.runs.programs.noise import joined, measure_gradients, require_finite


def test_a_run_without_a_checkpoint_is_refused(runs: Runs) -> None:
    run = write_run(runs.root)
    with pytest.raises(
        RunError, match=r"no checkpoint yet, so .* weights to measure\. Let it train"
    ):
        measure_gradients(run.dir, 128)


def test_too_few_steps_are_refused(runs: Runs) -> None:
    run = write_run(runs.root)
    with pytest.raises(RunError, match=r"7 steps are too few for an interval\. Ask for 8 or more"):
        measure_gradients(run.dir, 7)


def test_data_with_too_few_batches_is_refused(runs: Runs) -> None:
    run = replan(write_run(runs.root), num_train_examples=7 * 128 + 127)
    with pytest.raises(
        RunError, match=r"data holds 7 full global batches, .*at least 8 steps.*Choose a run with"
    ):
        measure_gradients(run.dir, 128)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"config": RunConfig(precision="mixed_float16")},
            "mixed_float16 scales the loss, and the gradients with it. ",
        ),
        (
            {"tasks": ("chief-0", "worker-0", "ps-0"), "global_batch_size": None},
            "train asynchronously. ",
        ),
        (
            {"tasks": ("worker-0", "worker-1"), "auto_shard": "off"},
            "all workers take the same examples. ",
        ),
    ],
)
def test_gradients_that_cannot_be_compared_are_refused(
    fields: dict[str, Any], message: str, runs: Runs
) -> None:
    with pytest.raises(RunError, match=f"{message}Choose a run"):
        measure_gradients(replan(write_run(runs.root), **fields).dir, 128)


def result(norms: list[float], examples: float = 8) -> dict[str, Any]:
    """Return the result of a task with one replica: a norm for each step."""
    return {
        "step": 5, "squared_norms": [[norm] for norm in norms],
        "examples": [[examples]] * len(norms), "products": [[1.0]], "weights": 3,
    }  # fmt: skip


def test_results_of_all_tasks_are_joined_by_replica() -> None:
    found = joined([result([1, 2, 3]), result([4, 5, 6])])
    assert found.squared_norms.tolist() == [[1, 4], [2, 5], [3, 6]]
    assert (found.step, found.per_replica_batch_size, found.weights) == (5, 8, 3)


def test_batches_of_different_sizes_are_refused() -> None:
    with pytest.raises(
        RunError, match=r"took 7 to 8 examples per step, .*Choose a global batch size"
    ):
        joined([result([1, 2]), result([1, 2], examples=7)])


@pytest.mark.parametrize(("wrong", "message"), [(math.nan, "not a number"), (math.inf, "infinite")])
def test_a_gradient_that_is_not_finite_is_named(wrong: float, message: str) -> None:
    found = joined([result([1, 2, 3]), result([4, wrong, 6])])
    with pytest.raises(
        RunError, match=f"replica 1 is {message} at the weights of step 5, in batch 2"
    ):
        require_finite(found)
