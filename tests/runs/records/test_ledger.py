"""The ledger of a run's time, from run folders written with exact times."""

import pytest

from tests.runs.records.written_run import NOW, WrittenRun
from workbench.runs.folder.files import RunError
from workbench.runs.records.ledger import Entry, Ledger, read_ledger

Seconds = dict[str, float]


def ledger(living: WrittenRun, at: float = 10_000.0) -> Ledger:
    return read_ledger(living.run.dir, now=NOW + at)


def first_step(living: WrittenRun, at: float = 10_000.0) -> Seconds:
    return {entry.name: entry.seconds for entry in ledger(living, at).first_step}


def whole(living: WrittenRun, at: float = 10_000.0) -> Seconds:
    return {entry.name: entry.seconds for entry in ledger(living, at).whole}


def begin(living: WrittenRun, at: float = 0.0, step: int = 0) -> None:
    """Write an attempt up to its first call; the click is at `at`, the first call at `at` + 8."""
    living.state("queued", at=at)
    living.state("starting", at=at + 0.5)
    living.event("start", at=at + 2, step=step)
    living.event("tracing", at=at + 5)
    living.event("traced", at=at + 7.5, seconds=2.5)


def finish(living: WrittenRun, at: float, state: str = "finished") -> None:
    living.state(state, at=at)
    living.dead()


def test_each_stage_up_to_the_first_step_has_its_seconds(living: WrittenRun) -> None:
    begin(living)
    living.call(0, 0, first=0, count=1, at=8, seconds=1.25)
    living.call(0, 0, first=1, count=4, at=10, seconds=0.25)
    expected = {"queue": 0.5, "start": 1.5, "data": 3.0, "trace": 2.5, "first step": 1.25}
    assert first_step(living) == expected
    assert list(first_step(living)) == list(expected)


def test_stages_appear_as_they_happen_and_the_current_stage_grows(living: WrittenRun) -> None:
    assert first_step(living, at=1) == {}
    living.state("queued", at=0)
    assert first_step(living, at=0.25) == {"queue": 0.25}
    living.state("queued", at=0.25, behind=["another"])
    assert first_step(living, at=2) == {"queue": 2.0}
    living.state("starting", at=3)
    assert first_step(living, at=4) == {"queue": 3.0, "start": 1.0}
    living.event("start", at=5, step=0)
    assert first_step(living, at=6.5) == {"queue": 3.0, "start": 2.0, "data": 1.5}
    living.event("tracing", at=7)
    so_far = {"queue": 3.0, "start": 2.0, "data": 2.0}
    assert first_step(living, at=8.5) == {**so_far, "trace": 1.5}
    living.event("traced", at=9, seconds=2.0)
    assert first_step(living, at=9.5) == {**so_far, "trace": 2.0, "first step": 0.5}
    living.call(0, 0, first=0, count=1, at=9.25, seconds=1.0)
    assert first_step(living, at=99) == {**so_far, "trace": 2.0, "first step": 1.0}


def test_without_graphs_there_is_no_trace_stage(
    living: WrittenRun,
) -> None:
    living.state("queued", at=0)
    living.state("starting", at=1)
    living.event("start", at=2, step=0)
    assert first_step(living, at=9) == {"queue": 1.0, "start": 1.0, "data": 7.0}
    living.call(0, 0, first=0, count=1, at=5, seconds=0.75)
    stages = {"queue": 1.0, "start": 1.0, "data": 3.0, "first step": 0.75}
    assert first_step(living, at=9) == stages
    finish(living, at=6)
    assert whole(living) == {"start-up": 4.0, "steps": 0.75, "other": 0.25}


def test_the_stages_of_a_run_add_up_to_its_time(living: WrittenRun) -> None:
    begin(living)
    living.call(0, 0, first=0, count=20, at=8, seconds=2.0)
    living.call(0, 0, first=20, count=10, at=10.25, seconds=1.0)
    living.event("test", at=11.5, epoch=1)
    living.event("epoch", at=14, epoch=1, step=30)
    living.event("saving", at=14, step=30)
    living.event("checkpoint", at=15.25, step=30)
    living.call(0, 0, first=30, count=30, at=15.5, seconds=3.0)
    living.event("test", at=18.5, epoch=2)
    living.event("epoch", at=19, epoch=2, step=60)
    living.event("saving", at=19, step=60)
    living.event("checkpoint_failed", at=19.5, step=60, error="No space left on device")
    living.event("finished", at=20.5, step=60)
    finish(living, at=21)
    spent = whole(living)
    assert spent == {
        "start-up": 4.5,
        "trace": 2.5,
        "steps": 6.0,
        "checkpoints": 1.75,
        "evaluation": 3.0,
        "other": 2.75,
    }
    found = ledger(living)
    assert sum(spent.values()) == found.seconds == 20.5
    assert found.queue_seconds == 0.5


def test_time_between_attempts_is_left_out_and_repeated_steps_are_other(
    living: WrittenRun,
) -> None:
    begin(living)
    living.call(0, 0, first=0, count=30, at=8, seconds=3.0)
    living.event("saving", at=11, step=30)
    living.event("checkpoint", at=12, step=30)
    living.call(0, 0, first=30, count=10, at=12, seconds=1.0)
    finish(living, at=13.5, state="failed")
    living.alive()
    begin(living, at=1000, step=30)
    living.call(1, 30, first=30, count=30, at=1008, seconds=2.0)
    living.event("finished", at=1010, step=60)
    finish(living, at=1010.5)
    stages = {"queue": 0.5, "start": 1.5, "data": 3.0, "trace": 2.5, "first step": 2.0}
    assert first_step(living) == stages
    spent = whole(living)
    assert spent["steps"] == 5.0
    assert spent["other"] == (0.5 + 1.0 + 0.5) + (0.5 + 0.5)
    assert (spent["start-up"], spent["trace"]) == (9.0, 5.0)
    found = ledger(living)
    assert sum(spent.values()) == found.seconds == 13.0 + 10.0
    assert found.queue_seconds == 1.0


def test_a_resumed_run_waits_again_for_its_first_step(living: WrittenRun) -> None:
    begin(living)
    living.call(0, 0, first=0, count=30, at=8)
    finish(living, at=9, state="stopped")
    living.alive()
    living.state("queued", at=100)
    living.state("starting", at=100.5)
    assert first_step(living, at=101.5) == {"queue": 0.5, "start": 1.0}
    assert whole(living, at=101.5)["start-up"] == 4.5 + 1.0


def test_a_clock_set_back_makes_only_affected_stages_unknown(living: WrittenRun) -> None:
    living.state("queued", at=0)
    living.state("starting", at=1)
    living.event("start", at=-3000, step=0)
    living.event("traced", at=-2997, seconds=1.0)
    living.call(0, 0, first=0, count=30, at=-2997, seconds=2.0)
    living.event("finished", at=-2995, step=30)
    finish(living, at=-2994)
    assert first_step(living) == {"queue": 1.0, "data": 2.0, "trace": 1.0, "first step": 2.0}
    assert whole(living) == {"trace": 1.0, "steps": 2.0, "other": 1.0}
    assert ledger(living).seconds is None


def test_a_clock_set_back_during_the_steps_makes_the_rest_unknown(living: WrittenRun) -> None:
    begin(living)
    living.call(0, 0, first=0, count=10, at=100, seconds=1.0)
    living.call(0, 0, first=10, count=10, at=50, seconds=2.0)
    finish(living, at=300)
    assert whole(living) == {"start-up": 4.5, "trace": 2.5, "steps": 3.0}
    assert ledger(living).seconds == 299.5


def test_a_late_clock_hides_the_current_stage(
    living: WrittenRun,
) -> None:
    living.state("queued", at=0)
    living.state("starting", at=1)
    assert first_step(living, at=-60) == {"queue": 1.0}
    assert whole(living, at=-60) == {}


def test_the_current_stage_counts_but_steps_count_only_when_done(living: WrittenRun) -> None:
    begin(living)
    assert "other" not in whole(living, at=30)
    living.call(0, 0, first=0, count=30, at=8, seconds=2.0)
    assert (whole(living, at=30)["steps"], whole(living, at=30)["other"]) == (2.0, 0.5)
    living.event("test", at=10.5, epoch=1)
    assert (whole(living, at=30)["evaluation"], whole(living, at=30)["other"]) == (19.5, 1.0)
    living.event("epoch", at=31, epoch=1, step=30)
    living.event("saving", at=31, step=30)
    assert whole(living, at=33)["checkpoints"] == 2.0
    assert sum(whole(living, at=33).values()) == ledger(living, at=33).seconds == 32.5


def test_a_stall_is_subtracted_from_its_call(living: WrittenRun) -> None:
    begin(living)
    living.call(0, 0, first=0, count=10, at=8, seconds=2.0)
    living.silence("stalled", at=30)
    assert whole(living, at=35)["stalls"] == 5.0
    living.call(0, 0, first=10, count=10, at=10, seconds=60.0)
    living.silence("recovered", at=70.25)
    living.call(0, 0, first=20, count=10, at=70.5, seconds=1.0)
    spent = whole(living)
    assert (spent["steps"], spent["stalls"]) == (63.0 - 40.0, 40.25)
    assert spent["other"] == 0.5 + 0.25
    assert sum(spent.values()) == 71.0


def test_a_stall_between_calls_is_not_subtracted_from_them(living: WrittenRun) -> None:
    begin(living)
    living.call(0, 0, first=0, count=10, at=8, seconds=2.0)
    living.silence("stalled", at=26)
    living.silence("recovered", at=46)
    living.call(0, 0, first=10, count=10, at=46, seconds=1.0)
    living.silence("stalled", at=63)
    finish(living, at=70, state="failed")
    spent = whole(living)
    assert (spent["steps"], spent["stalls"]) == (3.0, 20.0 + 7.0)
    assert sum(spent.values()) == 69.5


def test_a_failed_stage_has_its_seconds_up_to_the_failure(living: WrittenRun) -> None:
    living.state("queued", at=0)
    living.state("starting", at=1)
    living.event("start", at=2, step=0)
    finish(living, at=6.5, state="failed")
    assert first_step(living) == {"queue": 1.0, "start": 1.0, "data": 4.5}
    assert whole(living) == {"start-up": 5.5}


def test_a_lost_run_is_counted_up_to_its_last_event(living: WrittenRun) -> None:
    begin(living)
    living.call(0, 0, first=0, count=30, at=8, seconds=2.0)
    living.dead()
    assert whole(living)["other"] == 0.5
    living.event("saving", at=12, step=30)
    assert "checkpoints" not in whole(living)
    assert sum(whole(living).values()) == ledger(living).seconds == 11.5


def test_an_attempt_after_a_lost_one_takes_nothing_of_the_time_between_them(
    living: WrittenRun,
) -> None:
    begin(living)
    living.call(0, 0, first=0, count=30, at=8, seconds=2.0)
    living.event("saving", at=12, step=30)
    living.state("queued", at=500)
    living.state("starting", at=500.5)
    living.event("imported", at=501)
    living.event("start", at=502, step=30)
    finish(living, at=503)
    assert ledger(living).seconds == 11.5 + 2.5


def test_an_unrecorded_first_step_is_unknown(living: WrittenRun) -> None:
    begin(living)
    living.event("unrecorded", at=9, first_step=0, steps=1, error="No space left on device")
    assert "first step" not in first_step(living)


def test_a_run_that_was_stopped_in_its_queue_has_only_waited(living: WrittenRun) -> None:
    living.state("queued", at=0)
    finish(living, at=30, state="stopped")
    assert first_step(living) == {"queue": 30.0}
    assert ledger(living) == Ledger((Entry("queue", 30.0),), (), None, 30.0)


def test_a_run_without_a_state_event_has_an_empty_ledger(
    living: WrittenRun,
) -> None:
    living.silence("recovered", at=0)
    assert ledger(living) == Ledger((), ())


def test_a_run_has_a_ledger_and_an_unreadable_run_raises(living: WrittenRun) -> None:
    begin(living)
    living.call(0, 0, first=0, count=1, at=8)
    finish(living, at=9)
    assert living.run.ledger == ledger(living)
    assert living.run.ledger.first_step[-1] == Entry("first step", 0.5)
    (living.run.dir / "plan.json").unlink()
    with pytest.raises(RunError, match=r"plan\.json"):
        read_ledger(living.run.dir)
