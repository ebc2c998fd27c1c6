"""An X-ray that cannot be taken is refused with why; a step's numbers stand beside the record."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import pytest

from tests.machines import LAPTOP
from tests.runs.run_folders import Runs, replan
from tests.widgets.folders import BATCH, CONFIG, records, write_run, write_steps
from workbench.plan import make_plan
from workbench.runs import RunError
from workbench.runs.programs.xray import agrees, describe, recorded_row
from workbench.runs.records.arrays import Shape


@pytest.mark.parametrize("step", [-1, 0, 157, 10**9])
def test_a_step_that_was_not_done_is_refused(step: int, runs: Runs) -> None:
    run = write_run(runs.root)
    with pytest.raises(
        RunError, match=f"not done step {step}, only steps 1 to 156. Choose one of those"
    ):
        run.xray(step)


def test_a_run_without_a_step_is_refused(runs: Runs) -> None:
    run = write_run(runs.root, "stopped", steps=0)
    with pytest.raises(RunError, match=r"has done no step to X-ray yet\. Let it train first"):
        run.xray(1)


def test_scaled_losses_are_refused(runs: Runs) -> None:
    config = replace(CONFIG, precision="mixed_float16")
    run = replan(write_run(runs.root), config=config)
    with pytest.raises(RunError, match=r"mixed_float16, which scales the loss\. Choose"):
        run.xray(1)


def test_an_interpreter_that_is_gone_is_named(runs: Runs) -> None:
    run = write_run(runs.root)
    card = json.loads((run.dir / "run.json").read_text())
    (run.dir / "run.json").write_text(json.dumps({**card, "interpreter": "/no/such/python"}))
    gone = r"/no/such/python could not be started: No such file.*Put that interpreter back"
    with pytest.raises(RunError, match=gone):
        run.xray(1)
    assert list(run.dir.glob("xray*")) == []


def test_the_record_is_the_one_that_counts(runs: Runs) -> None:
    run, shape, tasks = write_run(runs.root), Shape(2, 78), ["worker-0"]
    assert recorded_row(run.dir, tasks, shape, 100) == [
        [BATCH, 32.0, BATCH],
        [2 * BATCH, 32.0, BATCH],
    ]
    write_steps(run.dir / "worker-0", 90, records(20, loss=3.0))
    again = recorded_row(run.dir, tasks, shape, 100)
    assert again is not None
    assert [row[0] for row in again] == [3 * BATCH, 6 * BATCH]
    assert recorded_row(run.dir, tasks, shape, 110) is None


def test_the_record_of_another_number_of_workers_is_not_compared(runs: Runs) -> None:
    run, shape, tasks = write_run(runs.root), Shape(2, 78), ["worker-0"]
    with (run.dir / "worker-0" / "events.jsonl").open("a") as file:
        for step, workers in ((0, 2), (50, 1)):
            file.write(json.dumps({"event": "start", "step": step, "workers": workers}) + "\n")
    assert recorded_row(run.dir, tasks, shape, 49) is None
    assert recorded_row(run.dir, tasks, shape, 50) is not None


def reply(
    loss_sums: Sequence[float | None], hashes: tuple[str, ...] = ("a", "a")
) -> dict[str, Any]:
    """Return the program's reply about replicas with 64 examples each."""
    replicas = [
        {"examples": 64, "rows": [at], "loss_sum": loss_sum, "correct": 1.0,
         "loss": None if loss_sum is None else loss_sum / 128, "gradient_norm": 1.0,
         "sum_norm": 1.5}
        for at, loss_sum in enumerate(loss_sums)
    ]  # fmt: skip
    copies = [
        {"device": f"CPU:{at}", "sha256": text, "parts": [text, "same"]}
        for at, text in enumerate(hashes)
    ]
    weights = {
        "names": ["kernel", "bias"], "before": [], "after": copies, "other_names": [],
        "others": [{**copy, "parts": []} for copy in copies], "numbers": 3,
    }  # fmt: skip
    step = {
        "step": 0,
        "epoch": 1,
        "started_at_step": 0,
        "global_batch_size": 128,
        "clip_norm": None,
    }
    return {**step, "replicas": replicas, "weights": weights}


def one(*arguments: Any) -> dict[str, dict[str, Any]]:
    """Return the reply of a single task."""
    return {"worker-0": reply(*arguments)}


PLAN = make_plan(CONFIG, LAPTOP)
ROW = [[64.0, 1.0, 64.0], [32.0, 1.0, 64.0]]


def test_numbers_stand_beside_the_record() -> None:
    found = describe(one([64.0, 32.0]), PLAN, ROW)
    assert (found.agrees, found.examples, found.loss) == (True, 128, 0.75)
    assert [each.contribution for each in found.replicas] == [0.5, 0.25]
    assert [each.difference for each in found.replicas] == [0.0, 0.0]
    assert found.divides_by_batch
    unrecorded = describe(one([64.0, 32.0]), PLAN, None)
    assert unrecorded.agrees is None
    assert unrecorded.replicas[0].difference is None


@pytest.mark.parametrize(
    ("loss_sum", "row", "same"),
    [
        (64.0 + 6.3e-5, [64.0, 1.0, 64.0], True),
        (64.0 + 6.5e-5, [64.0, 1.0, 64.0], False),
        (64e6 + 63, [64e6, 1.0, 64.0], True),
        (64e6 + 65, [64e6, 1.0, 64.0], False),
        (64.0, [64.0, 1.0, 63.0], False),
        (None, [math.nan, 1.0, 64.0], True),
        (None, [64.0, 1.0, 64.0], False),
        (64.0, [math.inf, 1.0, 64.0], False),
    ],
)
def test_a_disagreement_is_found(loss_sum: float | None, row: list[float], same: bool) -> None:
    replicas = describe(one([loss_sum, 32.0]), PLAN, None).replicas
    assert agrees(replicas, [row, ROW[1]]) is same


def test_a_replica_too_many_is_a_disagreement() -> None:
    assert agrees(describe(one([64.0, 32.0]), PLAN, None).replicas, ROW[:1]) is False


def test_copies_are_equal_by_their_hash_alone() -> None:
    assert describe(one([64.0, 32.0]), PLAN, ROW).weights.equal is True
    assert describe(one([64.0, 32.0], ("a", "b")), PLAN, ROW).weights.equal is False


def test_the_replies_of_several_tasks_become_one_step() -> None:
    tasks = {"worker-0": reply([64.0], ("a",)), "worker-1": reply([32.0], ("b",))}
    found = describe(tasks, PLAN, ROW)
    assert (found.agrees, found.examples, found.loss) == (True, 128, 0.75)
    assert [each.name for each in found.replicas] == [
        "worker 0, replica 0",
        "worker 1, replica 1",
    ]
    assert [copy.task for copy in found.weights.after] == ["worker-0", "worker-1"]
    assert found.weights.equal is False
    assert found.weights.differing == ["kernel"]


def test_a_loss_that_is_not_finite_has_no_mean() -> None:
    found = describe(one([None, 32.0]), PLAN, [[math.nan, 1.0, 64.0], ROW[1]])
    assert (found.agrees, found.loss) == (True, None)
    assert found.replicas[0].recorded_loss_sum is None
    json.dumps(asdict(found), allow_nan=False)
