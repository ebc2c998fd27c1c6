"""Which runs have no gradients to measure noise of, and why; what several tasks told is one."""

import json
import math
from typing import Any

import pytest

from tests.runs.run_folders import Runs
from tests.widgets.folders import write_run
from workbench.runs import Run, RunError
from workbench.runs.programs.noise import joined, measure_gradients, require_finite, steps_of_a_pass


def replan(run: Run, **fields: Any) -> Run:
    """Change fields of the plan that a run was started with."""
    path = run.dir / "plan.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))
    return run


def test_a_run_that_saved_nothing_is_refused(runs: Runs) -> None:
    run = write_run(runs.root)
    with pytest.raises(RunError, match=r"has saved no checkpoint yet\. Let it train"):
        measure_gradients(run.dir, 128)


def test_too_few_steps_are_refused(runs: Runs) -> None:
    run = write_run(runs.root)
    with pytest.raises(RunError, match=r"at least 8 steps; received 7\. Ask for 8 or more"):
        measure_gradients(run.dir, 7)


def test_data_of_too_few_batches_is_refused(runs: Runs) -> None:
    run = replan(write_run(runs.root), num_train_examples=7 * 128 + 127)
    with pytest.raises(RunError, match=r"data holds 7 whole global batches\. Choose a run with"):
        measure_gradients(run.dir, 128)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"config": {"precision": "mixed_float16"}}, "mixed_float16, which scales its loss. "),
        (
            {"tasks": ["chief-0", "worker-0", "ps-0"], "global_batch_size": None},
            "whose workers each step by themselves. ",
        ),
        (
            {"tasks": ["worker-0", "worker-1"], "auto_shard": "off"},
            "whose workers all take the same. ",
        ),
    ],
)
def test_gradients_that_cannot_be_compared_are_refused(
    fields: dict[str, Any], words: str, runs: Runs
) -> None:
    with pytest.raises(RunError, match=f"{words}Choose a run"):
        measure_gradients(replan(write_run(runs.root), **fields).dir, 128)


def test_a_pass_is_the_whole_batches_of_an_epoch_or_of_the_data() -> None:
    plan = {"num_train_examples": 1_003, "global_batch_size": 64, "steps_per_epoch": 16}
    assert steps_of_a_pass(plan) == 15
    assert steps_of_a_pass({**plan, "steps_per_epoch": 10}) == 10
    assert steps_of_a_pass({**plan, "steps_per_epoch": 100}) == 15


def told(norms: list[float], examples: float = 8) -> dict[str, Any]:
    """What a task tells of as many steps, each of its one replica a step."""
    return {
        "step": 5, "squared_norms": [[norm] for norm in norms],
        "examples": [[examples]] * len(norms), "products": [[1.0]], "weights": 3,
    }  # fmt: skip


def test_replicas_of_all_tasks_stand_side_by_side() -> None:
    found = joined([told([1, 2, 3]), told([4, 5, 6])])
    assert found.squared_norms.tolist() == [[1, 4], [2, 5], [3, 6]]
    assert (found.step, found.per_replica_batch_size, found.weights) == (5, 8, 3)


def test_batches_of_different_sizes_are_refused() -> None:
    with pytest.raises(RunError, match=r"took 7 to 8 examples\. Choose a global batch"):
        joined([told([1, 2]), told([1, 2], examples=7)])


@pytest.mark.parametrize(("wrong", "words"), [(math.nan, "not a number"), (math.inf, "infinite")])
def test_a_gradient_that_is_not_finite_is_named(wrong: float, words: str) -> None:
    found = joined([told([1, 2, 3]), told([4, wrong, 6])])
    with pytest.raises(
        RunError, match=f"replica 1 is {words} at the weights of step 5, in batch 1"
    ):
        require_finite(found)
