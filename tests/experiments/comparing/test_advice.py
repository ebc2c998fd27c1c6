"""The recommendation of a comparison, or why there is none."""

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.experiments.timed_runs import APART, ONE, TWO, group, timed_run
from tests.widgets.folders import write_run
from workbench.config import RunConfig
from workbench.experiments.comparing.advice import recommend
from workbench.experiments.comparing.rows import Group
from workbench.experiments.comparing.table import make_table
from workbench.runs import Run
from workbench.runs.supervise.diagnosis import explain


def test_without_trained_runs_there_is_no_recommendation() -> None:
    table = make_table([Group("tpu", reason="no TPU here")])
    assert (table.baseline, table.rows[0].notes) == (None, ("no TPU here",))
    assert recommend([Group("tpu", reason="no TPU here")]).group is None


def out_of_memory(root: Path, config: RunConfig) -> Run:
    """Return a run that failed because its device had too little memory."""
    run = timed_run(root, config, 1000.0, "failed")
    log = "tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating"
    failed = {"event": "state", "state": "failed", "log": log, **explain(1, [], log, "python")}
    with (run.dir / "events.jsonl").open("a") as file:
        file.write(json.dumps({"time": time.time(), **failed}) + "\n")
    return run


def test_if_all_runs_failed_the_causes_and_the_remedy_stand_instead_of_a_recommendation(
    tmp_path: Path,
) -> None:
    groups = [Group("one", (out_of_memory(tmp_path, ONE),)),
              Group("two", (out_of_memory(tmp_path, TWO),)),
              Group("tpu", reason="no TPU here. Choose another.")]  # fmt: skip
    advice = recommend(groups)
    assert advice.group is None
    assert advice.sentence == (
        "No recommendation: no candidate has a speed. one, two: The memory of a device or of the "
        "machine was used up. "
        "tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating (exit "
        "status 1). tpu: no TPU here. Choose another. Make the batch or the model smaller, or end "
        "other programs that use this memory."
    )


def test_if_the_budget_is_smaller_than_one_run_that_stands_instead_of_a_recommendation(
    tmp_path: Path,
) -> None:
    stopped = timed_run(tmp_path, ONE, 1000.0, "stopped")
    groups = [
        Group("one", (stopped,), "its run was stopped when the budget was spent"),
        Group("two", reason="the budget of 2 s is spent"),
    ]
    assert recommend(groups).sentence == (
        "No recommendation: no candidate has a speed. one: its run was stopped when "
        "the budget was spent. two: the budget of 2 s is spent."
    )


def test_deleted_runs_are_the_reason_that_there_is_no_recommendation() -> None:
    sentence = recommend([Group("one"), Group("tpu", reason="no TPU here")]).sentence
    assert sentence.endswith("one: its runs were deleted. tpu: no TPU here.")


def test_a_stopped_run_and_a_short_run_are_told_apart(tmp_path: Path) -> None:
    stopped = timed_run(tmp_path, ONE, 1000.0, "stopped")
    short = write_run(tmp_path, steps=10)
    sentence = recommend([Group("one", (stopped,)), Group("short", (short,))]).sentence
    assert "one: its run was stopped. short: its run was too short to measure its speed." in (
        sentence
    )


def test_a_candidate_that_waits_may_have_a_speed_later(tmp_path: Path) -> None:
    groups = [Group("one", (out_of_memory(tmp_path, ONE),)), Group("two", runs_left=1)]
    expected = "No recommendation yet: no candidate has a speed."
    assert recommend(groups).sentence == expected


def test_while_runs_are_left_the_recommendation_holds_so_far(tmp_path: Path) -> None:
    one, two = group(tmp_path, "one", ONE, 1000.0), group(tmp_path, "two", TWO, 1500.0)
    alone = "So far, use one: it is the only candidate that trained here."
    assert recommend([one, Group("two", runs_left=1)]).sentence == alone
    more = recommend([one, replace(two, runs_left=2)])
    assert more.sentence.startswith("So far, undecided: two was the fastest")
    assert not more.undecided, "the runs that are left may decide"
    fast = group(tmp_path, "fast", TWO, 4000.0)
    assert recommend([one, replace(fast, runs_left=2)]).sentence.startswith("So far, use fast: ")
    assert recommend([one, fast]).sentence.startswith("Use fast: ")


def test_a_significantly_fastest_group_is_recommended(tmp_path: Path) -> None:
    groups = [
        group(tmp_path, "one", ONE, 1000.0, 1010.0, 990.0),
        group(tmp_path, "two", TWO, 1500.0, 1520.0, 1480.0),
    ]
    advice = recommend(groups)
    assert advice.group == 1
    assert advice.sentence.startswith("Use two: it is the fastest; one has 67% (95 %: ")


def test_the_simplest_group_is_recommended_if_speeds_do_not_differ(tmp_path: Path) -> None:
    groups = [
        group(tmp_path, "two", TWO, 1010.0, 1030.0, 1000.0),
        group(tmp_path, "one", ONE, 1000.0, 1040.0, 980.0),
    ]
    advice = recommend(groups)
    assert advice.group == 1
    assert "two is less than 10% faster, and this one is simpler; it has 99% (95 %: 9" in (
        advice.sentence
    )


@pytest.mark.parametrize(
    ("others", "why"),
    [
        ((900.0, 1300.0, 1100.0), "its interval contains 1"),
        ((500.0, 1390.0, 800.0), "its interval is wider than a factor of two"),
        ((700.0,), "a single run has no interval"),
    ],
)
def test_noise_is_not_recommended(tmp_path: Path, others: tuple[float, ...], why: str) -> None:
    rates = (1250.0, 1300.0, 1200.0)[: len(others)]
    fast = group(tmp_path, "fast", TWO, *rates)
    advice = recommend([group(tmp_path, "one", ONE, *others), fast])
    assert (advice.group, advice.undecided) == (None, True), why
    assert advice.sentence.startswith("Undecided: fast was the fastest, but that may be chance.")
    assert "Share of its speed: one " in advice.sentence
    needed = (
        "An interval needs 3 runs of each"
        if len(others) == 1
        else "More runs of each, or more steps"
    )
    assert needed in advice.sentence


def test_one_run_with_less_than_half_of_the_speed_is_slower(tmp_path: Path) -> None:
    advice = recommend([group(tmp_path, "one", ONE, 400.0), group(tmp_path, "two", TWO, 1000.0)])
    assert advice.group == 1
    assert advice.sentence == "Use two: it is the fastest; one has 40% of its speed."


def test_groups_of_different_work_are_not_ranked_together(tmp_path: Path) -> None:
    one, two = (replace(each, global_batch_size=128) for each in (ONE, TWO))
    groups = [
        group(tmp_path, "one", ONE, 1000.0, 1010.0, 990.0),
        group(tmp_path, "two", TWO, 1500.0, 1520.0, 1480.0),
        group(tmp_path, "one, 128", one, 3000.0, 3010.0, 2990.0),
        group(tmp_path, "two, 128", two, 2000.0, 2010.0, 1990.0),
    ]
    advice = recommend(groups)
    assert advice.group is None
    assert advice.sentence.startswith(
        "These candidates do different work, so they are not ranked together. With batch 64, use "
        "two: it is the fastest; "
    )
    assert " With batch 128, use one, 128: it is the fastest; " in advice.sentence
    other = group(tmp_path, "other", replace(ONE, synthetic_features=20), 9000.0)
    data = recommend([groups[0], other])
    assert (data.group, data.sentence) == (
        *(None, "These candidates do different work, so they are not ranked together."),
    )
    table = make_table([groups[0], groups[2], other])
    assert [row.batch for row in table.rows] == ["64", "128", "64"]
    assert [row.speed_up is None for row in table.rows] == [False, False, True]


def test_asynchronous_workers_are_not_recommended(tmp_path: Path) -> None:
    groups = [
        group(tmp_path, "one", ONE, 1000.0, 1010.0, 990.0),
        group(tmp_path, "apart", APART, 3000.0, 3010.0, 2990.0),
    ]
    advice = recommend(groups)
    assert advice.group == 0
    assert "apart does 3,000 examples per second, but its workers do not wait" in advice.sentence


def test_the_only_candidate_that_can_be_recommended_is_said_to_be_the_only_one_of_its_kind(
    tmp_path: Path,
) -> None:
    one, apart = group(tmp_path, "one", ONE, 1000.0), group(tmp_path, "apart", APART, 900.0)
    alone = "Use one: it is the only candidate that trained here."
    assert recommend([one]).sentence == alone
    failed = Group("failed", (out_of_memory(tmp_path, TWO),))
    assert recommend([one, failed]).sentence == alone
    assert recommend([one, apart]).sentence == (
        "Use one: it is the only synchronous candidate that trained here."
    )
