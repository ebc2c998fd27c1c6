"""The texts about a measured step: the same in a terminal and on a page."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.verdict.steps import broken_down, with_shares
from tests.verdict.verdicts import timed_run, verdict_on
from workbench.interval import Interval
from workbench.verdict import Trial, WorkerSpeed, wording
from workbench.verdict.causes import Suggestion

STEP = Interval(0.002, 0.0019, 0.0021)


def test_the_parts_within_compute_come_below_it() -> None:
    rows = list(wording.part_rows(broken_down({"host": 1e-3, "fixed": 5e-4})))
    names = [row.name for row in rows]
    assert names[:3] == ["input", "compute", "fixed"]
    assert [row.name for row in rows if row.within_compute] == ["fixed", "crowding"]
    host = rows[names.index("host")]
    assert host.known
    assert host.share == pytest.approx(0.5, abs=0.05)
    assert host.time.endswith((" ms", " µs"))


def test_a_part_that_does_not_differ_from_zero_has_an_upper_limit() -> None:
    found = with_shares(
        {"input": (0.02, 0.0, 0.156), "compute": (0.98, 0.8, 1.0), "host": (0.0, 0.0, 0.0)}
    )
    rows = {row.name: row for row in wording.part_rows(found)}
    assert not rows["input"].known
    assert rows["input"].meaning == "waiting for batches; from 0 to 15.6% of the step"
    assert rows["host"].meaning == "Python and the start of each call; none found"


def test_the_parts_are_said_to_add_up_to_the_step_and_to_overlap() -> None:
    found = broken_down({"input": 1e-3})
    assert wording.parts_sum(found) == (
        "The parts add up to the step; fixed and crowding are within compute and can overlap."
    )
    over = replace(found, overlap_seconds=0.1 * found.step.value, within=())
    assert "the parts took 10.0% more than the step: some overlap, " in wording.parts_sum(over)


@pytest.mark.parametrize(
    ("recorded_seconds", "ending"),
    [
        (None, "The run recorded too few calls for a comparison."),
        (2e-3, "which agrees."),
        (9e-3, "the run's calls took 9 ms [8.91 ms, 9.09 ms] per step."),
    ],
)
def test_the_measured_step_is_compared_with_the_recorded_one(
    recorded_seconds: float | None, ending: str, tmp_path: Path
) -> None:
    verdict = verdict_on(timed_run(tmp_path), {"host": 1e-3}, recorded_seconds)
    assert wording.recorded(verdict).endswith(ending)


def test_the_slowest_of_several_workers_is_marked() -> None:
    *alone, last = wording.paces(broken_down({"waiting": 2e-3}, tasks=2))
    assert last.startswith("worker-1 alone: ")
    assert last.endswith("per step, the slowest")
    assert "slowest" not in "".join(alone)
    even = list(wording.paces(broken_down({}, tasks=2)))
    assert even[-1] == "No worker is significantly slower than all others."


def test_each_asynchronous_worker_has_a_row() -> None:
    slow = Interval(0.004, 0.0039, 0.0041)
    rows = wording.worker_speed_rows(
        [WorkerSpeed("worker-0", STEP, STEP), WorkerSpeed("worker-1", slow, STEP)]
    )
    assert rows[0] == ("worker-0", "2 ms [1.9 ms, 2.1 ms]", "2 ms [1.9 ms, 2.1 ms]", "")
    assert rows[1][-1] == wording.SLOWEST


def test_both_sides_of_a_trial_have_a_row() -> None:
    trial = Trial("a", "b", Suggestion({}, ""), STEP, STEP, Interval(1.0, 0.9, 1.1), 9)
    assert wording.trial_rows(trial) == [
        ("before", "a", "2 ms [1.9 ms, 2.1 ms]"),
        ("after", "b", "2 ms [1.9 ms, 2.1 ms]"),
    ]


def test_the_runs_own_speed_is_the_one_that_is_shown_everywhere(tmp_path: Path) -> None:
    verdict = verdict_on(timed_run(tmp_path), {"host": 1e-3}, 1e-3)
    known = replace(verdict.recorded, examples_per_second=1790.6)
    text = wording.recorded(replace(verdict, recorded=known))
    assert text.startswith("The run's speed is 1,791 examples per second. While it trained, ")
