"""Where a run's time went, in folders written with exact times."""

from collections.abc import Iterator

import pytest

from tests.runs.records.told import NOW, Told
from tests.runs.run_folders import Runs
from workbench.runs.folder.files import RunError
from workbench.runs.records.ledger import Entry, Ledger, read_ledger

Seconds = dict[str, float]


def ledger(told: Told, at: float = 10_000.0) -> Ledger:
    return read_ledger(told.run.dir, now=NOW + at)


def first_step(told: Told, at: float = 10_000.0) -> Seconds:
    return {entry.name: entry.seconds for entry in ledger(told, at).first_step}


def whole(told: Told, at: float = 10_000.0) -> Seconds:
    return {entry.name: entry.seconds for entry in ledger(told, at).whole}


def begin(told: Told, at: float = 0.0, step: int = 0) -> None:
    """Write an attempt up to its first call; the click is at `at`, the first call at `at` + 8."""
    told.state("queued", at=at)
    told.state("starting", at=at + 0.5)
    told.says("start", at=at + 2, step=step)
    told.says("tracing", at=at + 5)
    told.says("traced", at=at + 7.5, seconds=2.5)


def finish(told: Told, at: float, state: str = "finished") -> None:
    told.state(state, at=at)
    told.dead()


@pytest.fixture
def told(runs: Runs) -> Iterator[Told]:
    """A living run of which nothing is written yet."""
    made = Told(runs.make())
    made.alive()
    yield made
    made.dead()


def test_each_stage_up_to_the_first_step_has_its_seconds(told: Told) -> None:
    begin(told)
    told.call(0, 0, first=0, count=1, at=8, seconds=1.25)
    told.call(0, 0, first=1, count=4, at=10, seconds=0.25)
    expected = {"queue": 0.5, "start": 1.5, "data": 3.0, "trace": 2.5, "first step": 1.25}
    assert first_step(told) == expected
    assert list(first_step(told)) == list(expected)


def test_stages_come_as_they_happen_and_the_one_under_way_grows(told: Told) -> None:
    assert first_step(told, at=1) == {}
    told.state("queued", at=0)
    assert first_step(told, at=0.25) == {"queue": 0.25}
    told.state("queued", at=0.25, behind=["another"])
    assert first_step(told, at=2) == {"queue": 2.0}
    told.state("starting", at=3)
    assert first_step(told, at=4) == {"queue": 3.0, "start": 1.0}
    told.says("start", at=5, step=0)
    assert first_step(told, at=6.5) == {"queue": 3.0, "start": 2.0, "data": 1.5}
    told.says("tracing", at=7)
    so_far = {"queue": 3.0, "start": 2.0, "data": 2.0}
    assert first_step(told, at=8.5) == {**so_far, "trace": 1.5}
    told.says("traced", at=9, seconds=2.0)
    assert first_step(told, at=9.5) == {**so_far, "trace": 2.0, "first step": 0.5}
    told.call(0, 0, first=0, count=1, at=9.25, seconds=1.0)
    assert first_step(told, at=99) == {**so_far, "trace": 2.0, "first step": 1.0}


def test_without_graphs_there_is_no_trace_and_data_end_with_the_first_call(told: Told) -> None:
    told.state("queued", at=0)
    told.state("starting", at=1)
    told.says("start", at=2, step=0)
    assert first_step(told, at=9) == {"queue": 1.0, "start": 1.0, "data": 7.0}
    told.call(0, 0, first=0, count=1, at=5, seconds=0.75)
    stages = {"queue": 1.0, "start": 1.0, "data": 3.0, "first step": 0.75}
    assert first_step(told, at=9) == stages
    finish(told, at=6)
    assert whole(told) == {"queue": 1.0, "start-up": 4.0, "steps": 0.75, "other": 0.25}


def test_the_whole_run_is_counted_once_and_adds_up_to_its_time(told: Told) -> None:
    begin(told)
    told.call(0, 0, first=0, count=20, at=8, seconds=2.0)
    told.call(0, 0, first=20, count=10, at=10.25, seconds=1.0)
    told.says("test", at=11.5, epoch=1)
    told.says("epoch", at=14, epoch=1, step=30)
    told.says("saving", at=14, step=30)
    told.says("checkpoint", at=15.25, step=30)
    told.call(0, 0, first=30, count=30, at=15.5, seconds=3.0)
    told.says("test", at=18.5, epoch=2)
    told.says("epoch", at=19, epoch=2, step=60)
    told.says("saving", at=19, step=60)
    told.says("checkpoint_failed", at=19.5, step=60, error="No space left on device")
    told.says("finished", at=20.5, step=60)
    finish(told, at=21)
    spent = whole(told)
    assert spent == {
        "queue": 0.5,
        "start-up": 4.5,
        "trace": 2.5,
        "steps": 6.0,
        "checkpoints": 1.75,
        "evaluation": 3.0,
        "other": 2.75,
    }
    assert sum(spent.values()) == 21


def test_what_lies_between_two_attempts_is_nobodys_and_steps_done_again_are_other(
    told: Told,
) -> None:
    begin(told)
    told.call(0, 0, first=0, count=30, at=8, seconds=3.0)
    told.says("saving", at=11, step=30)
    told.says("checkpoint", at=12, step=30)
    told.call(0, 0, first=30, count=10, at=12, seconds=1.0)
    finish(told, at=13.5, state="failed")
    told.alive()
    begin(told, at=1000, step=30)
    told.call(1, 30, first=30, count=30, at=1008, seconds=2.0)
    told.says("finished", at=1010, step=60)
    finish(told, at=1010.5)
    stages = {"queue": 0.5, "start": 1.5, "data": 3.0, "trace": 2.5, "first step": 2.0}
    assert first_step(told) == stages
    spent = whole(told)
    assert spent["steps"] == 5.0
    assert spent["other"] == (0.5 + 1.0 + 0.5) + (0.5 + 0.5)
    assert (spent["queue"], spent["start-up"], spent["trace"]) == (1.0, 9.0, 5.0)
    assert sum(spent.values()) == 13.5 + 10.5


def test_a_resumed_run_waits_anew_for_its_first_step(told: Told) -> None:
    begin(told)
    told.call(0, 0, first=0, count=30, at=8)
    finish(told, at=9, state="stopped")
    told.alive()
    told.state("queued", at=100)
    told.state("starting", at=100.5)
    assert first_step(told, at=101.5) == {"queue": 0.5, "start": 1.0}
    assert whole(told, at=101.5)["start-up"] == 4.5 + 1.0


def test_a_clock_set_back_leaves_out_what_it_spoils(told: Told) -> None:
    told.state("queued", at=0)
    told.state("starting", at=1)
    told.says("start", at=-3000, step=0)
    told.says("traced", at=-2997, seconds=1.0)
    told.call(0, 0, first=0, count=30, at=-2997, seconds=2.0)
    told.says("finished", at=-2995, step=30)
    finish(told, at=-2994)
    assert first_step(told) == {"queue": 1.0, "data": 2.0, "trace": 1.0, "first step": 2.0}
    assert whole(told) == {"queue": 1.0, "trace": 1.0, "steps": 2.0, "other": 1.0}


def test_a_clock_set_back_amid_the_steps_leaves_the_rest_unknown(told: Told) -> None:
    begin(told)
    told.call(0, 0, first=0, count=10, at=100, seconds=1.0)
    told.call(0, 0, first=10, count=10, at=50, seconds=2.0)
    finish(told, at=300)
    assert whole(told) == {"queue": 0.5, "start-up": 4.5, "trace": 2.5, "steps": 3.0}


def test_a_clock_behind_that_of_the_run_shows_nothing_of_what_is_under_way(told: Told) -> None:
    told.state("queued", at=0)
    told.state("starting", at=1)
    assert first_step(told, at=-60) == {"queue": 1.0}
    assert whole(told, at=-60) == {"queue": 1.0}


def test_what_is_under_way_counts_but_a_step_only_once_it_is_done(told: Told) -> None:
    begin(told)
    assert "other" not in whole(told, at=30)
    told.call(0, 0, first=0, count=30, at=8, seconds=2.0)
    assert (whole(told, at=30)["steps"], whole(told, at=30)["other"]) == (2.0, 0.5)
    told.says("test", at=10.5, epoch=1)
    assert (whole(told, at=30)["evaluation"], whole(told, at=30)["other"]) == (19.5, 1.0)
    told.says("epoch", at=31, epoch=1, step=30)
    told.says("saving", at=31, step=30)
    assert whole(told, at=33)["checkpoints"] == 2.0
    assert sum(whole(told, at=33).values()) == 33


def test_a_stall_is_taken_from_the_call_it_lay_in(told: Told) -> None:
    begin(told)
    told.call(0, 0, first=0, count=10, at=8, seconds=2.0)
    told.silence("stalled", at=30)
    assert whole(told, at=35)["stalls"] == 5.0
    told.call(0, 0, first=10, count=10, at=10, seconds=60.0)
    told.silence("recovered", at=70.25)
    told.call(0, 0, first=20, count=10, at=70.5, seconds=1.0)
    spent = whole(told)
    assert (spent["steps"], spent["stalls"]) == (63.0 - 40.0, 40.25)
    assert spent["other"] == 0.5 + 0.25
    assert sum(spent.values()) == 71.5


def test_a_stall_between_calls_is_not_taken_from_them(told: Told) -> None:
    begin(told)
    told.call(0, 0, first=0, count=10, at=8, seconds=2.0)
    told.silence("stalled", at=26)
    told.silence("recovered", at=46)
    told.call(0, 0, first=10, count=10, at=46, seconds=1.0)
    told.silence("stalled", at=63)
    finish(told, at=70, state="failed")
    spent = whole(told)
    assert (spent["steps"], spent["stalls"]) == (3.0, 20.0 + 7.0)
    assert sum(spent.values()) == 70


def test_a_stage_that_failed_has_its_seconds_up_to_the_failure(told: Told) -> None:
    told.state("queued", at=0)
    told.state("starting", at=1)
    told.says("start", at=2, step=0)
    finish(told, at=6.5, state="failed")
    assert first_step(told) == {"queue": 1.0, "start": 1.0, "data": 4.5}
    assert whole(told) == {"queue": 1.0, "start-up": 5.5}


def test_a_lost_run_is_told_of_up_to_its_last_sign(told: Told) -> None:
    begin(told)
    told.call(0, 0, first=0, count=30, at=8, seconds=2.0)
    told.dead()
    assert whole(told)["other"] == 0.5
    told.says("saving", at=12, step=30)
    assert "checkpoints" not in whole(told)
    assert sum(whole(told).values()) == 12


def test_a_first_step_that_could_not_be_recorded_is_not_known(told: Told) -> None:
    begin(told)
    told.says("unrecorded", at=9, first_step=0, steps=1, error="No space left on device")
    assert "first step" not in first_step(told)


def test_a_run_that_was_stopped_in_its_queue_has_only_waited(told: Told) -> None:
    told.state("queued", at=0)
    finish(told, at=30, state="stopped")
    assert first_step(told) == whole(told) == {"queue": 30.0}


def test_a_supervisor_that_has_told_nothing_of_use_yet_has_spent_no_time(told: Told) -> None:
    told.silence("recovered", at=0)
    assert ledger(told) == Ledger((), ())


def test_a_run_has_it_and_says_where_it_cannot_be_read(told: Told) -> None:
    begin(told)
    told.call(0, 0, first=0, count=1, at=8)
    finish(told, at=9)
    assert told.run.ledger == ledger(told)
    assert told.run.ledger.first_step[-1] == Entry("first step", 0.5)
    (told.run.dir / "plan.json").unlink()
    with pytest.raises(RunError, match=r"plan\.json"):
        read_ledger(told.run.dir)
