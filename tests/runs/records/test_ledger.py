"""The ledger of a run's time, from run folders written with exact times."""

from collections.abc import Iterator

import pytest

from tests.runs.records.written_run import NOW, WrittenRun
from tests.runs.run_folders import Runs
from workbench.runs.folder.files import RunError
from workbench.runs.records.ledger import Entry, Ledger, read_ledger

Seconds = dict[str, float]


def ledger(written: WrittenRun, at: float = 10_000.0) -> Ledger:
    return read_ledger(written.run.dir, now=NOW + at)


def first_step(written: WrittenRun, at: float = 10_000.0) -> Seconds:
    return {entry.name: entry.seconds for entry in ledger(written, at).first_step}


def whole(written: WrittenRun, at: float = 10_000.0) -> Seconds:
    return {entry.name: entry.seconds for entry in ledger(written, at).whole}


def begin(written: WrittenRun, at: float = 0.0, step: int = 0) -> None:
    """Write an attempt up to its first call; the click is at `at`, the first call at `at` + 8."""
    written.state("queued", at=at)
    written.state("starting", at=at + 0.5)
    written.event("start", at=at + 2, step=step)
    written.event("tracing", at=at + 5)
    written.event("traced", at=at + 7.5, seconds=2.5)


def finish(written: WrittenRun, at: float, state: str = "finished") -> None:
    written.state(state, at=at)
    written.dead()


@pytest.fixture
def written(runs: Runs) -> Iterator[WrittenRun]:
    """A living run without events."""
    made = WrittenRun(runs.make())
    made.alive()
    yield made
    made.dead()


def test_each_stage_up_to_the_first_step_has_its_seconds(written: WrittenRun) -> None:
    begin(written)
    written.call(0, 0, first=0, count=1, at=8, seconds=1.25)
    written.call(0, 0, first=1, count=4, at=10, seconds=0.25)
    expected = {"queue": 0.5, "start": 1.5, "data": 3.0, "trace": 2.5, "first step": 1.25}
    assert first_step(written) == expected
    assert list(first_step(written)) == list(expected)


def test_stages_appear_as_they_happen_and_the_current_stage_grows(written: WrittenRun) -> None:
    assert first_step(written, at=1) == {}
    written.state("queued", at=0)
    assert first_step(written, at=0.25) == {"queue": 0.25}
    written.state("queued", at=0.25, behind=["another"])
    assert first_step(written, at=2) == {"queue": 2.0}
    written.state("starting", at=3)
    assert first_step(written, at=4) == {"queue": 3.0, "start": 1.0}
    written.event("start", at=5, step=0)
    assert first_step(written, at=6.5) == {"queue": 3.0, "start": 2.0, "data": 1.5}
    written.event("tracing", at=7)
    so_far = {"queue": 3.0, "start": 2.0, "data": 2.0}
    assert first_step(written, at=8.5) == {**so_far, "trace": 1.5}
    written.event("traced", at=9, seconds=2.0)
    assert first_step(written, at=9.5) == {**so_far, "trace": 2.0, "first step": 0.5}
    written.call(0, 0, first=0, count=1, at=9.25, seconds=1.0)
    assert first_step(written, at=99) == {**so_far, "trace": 2.0, "first step": 1.0}


def test_without_graphs_there_is_no_trace_stage(
    written: WrittenRun,
) -> None:
    written.state("queued", at=0)
    written.state("starting", at=1)
    written.event("start", at=2, step=0)
    assert first_step(written, at=9) == {"queue": 1.0, "start": 1.0, "data": 7.0}
    written.call(0, 0, first=0, count=1, at=5, seconds=0.75)
    stages = {"queue": 1.0, "start": 1.0, "data": 3.0, "first step": 0.75}
    assert first_step(written, at=9) == stages
    finish(written, at=6)
    assert whole(written) == {"queue": 1.0, "start-up": 4.0, "steps": 0.75, "other": 0.25}


def test_the_stages_of_a_run_add_up_to_its_time(written: WrittenRun) -> None:
    begin(written)
    written.call(0, 0, first=0, count=20, at=8, seconds=2.0)
    written.call(0, 0, first=20, count=10, at=10.25, seconds=1.0)
    written.event("test", at=11.5, epoch=1)
    written.event("epoch", at=14, epoch=1, step=30)
    written.event("saving", at=14, step=30)
    written.event("checkpoint", at=15.25, step=30)
    written.call(0, 0, first=30, count=30, at=15.5, seconds=3.0)
    written.event("test", at=18.5, epoch=2)
    written.event("epoch", at=19, epoch=2, step=60)
    written.event("saving", at=19, step=60)
    written.event("checkpoint_failed", at=19.5, step=60, error="No space left on device")
    written.event("finished", at=20.5, step=60)
    finish(written, at=21)
    spent = whole(written)
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


def test_time_between_attempts_is_left_out_and_repeated_steps_are_other(
    written: WrittenRun,
) -> None:
    begin(written)
    written.call(0, 0, first=0, count=30, at=8, seconds=3.0)
    written.event("saving", at=11, step=30)
    written.event("checkpoint", at=12, step=30)
    written.call(0, 0, first=30, count=10, at=12, seconds=1.0)
    finish(written, at=13.5, state="failed")
    written.alive()
    begin(written, at=1000, step=30)
    written.call(1, 30, first=30, count=30, at=1008, seconds=2.0)
    written.event("finished", at=1010, step=60)
    finish(written, at=1010.5)
    stages = {"queue": 0.5, "start": 1.5, "data": 3.0, "trace": 2.5, "first step": 2.0}
    assert first_step(written) == stages
    spent = whole(written)
    assert spent["steps"] == 5.0
    assert spent["other"] == (0.5 + 1.0 + 0.5) + (0.5 + 0.5)
    assert (spent["queue"], spent["start-up"], spent["trace"]) == (1.0, 9.0, 5.0)
    assert sum(spent.values()) == 13.5 + 10.5


def test_a_resumed_run_waits_again_for_its_first_step(written: WrittenRun) -> None:
    begin(written)
    written.call(0, 0, first=0, count=30, at=8)
    finish(written, at=9, state="stopped")
    written.alive()
    written.state("queued", at=100)
    written.state("starting", at=100.5)
    assert first_step(written, at=101.5) == {"queue": 0.5, "start": 1.0}
    assert whole(written, at=101.5)["start-up"] == 4.5 + 1.0


def test_a_clock_set_back_makes_only_affected_stages_unknown(written: WrittenRun) -> None:
    written.state("queued", at=0)
    written.state("starting", at=1)
    written.event("start", at=-3000, step=0)
    written.event("traced", at=-2997, seconds=1.0)
    written.call(0, 0, first=0, count=30, at=-2997, seconds=2.0)
    written.event("finished", at=-2995, step=30)
    finish(written, at=-2994)
    assert first_step(written) == {"queue": 1.0, "data": 2.0, "trace": 1.0, "first step": 2.0}
    assert whole(written) == {"queue": 1.0, "trace": 1.0, "steps": 2.0, "other": 1.0}


def test_a_clock_set_back_during_the_steps_makes_the_rest_unknown(written: WrittenRun) -> None:
    begin(written)
    written.call(0, 0, first=0, count=10, at=100, seconds=1.0)
    written.call(0, 0, first=10, count=10, at=50, seconds=2.0)
    finish(written, at=300)
    assert whole(written) == {"queue": 0.5, "start-up": 4.5, "trace": 2.5, "steps": 3.0}


def test_a_late_clock_hides_the_current_stage(
    written: WrittenRun,
) -> None:
    written.state("queued", at=0)
    written.state("starting", at=1)
    assert first_step(written, at=-60) == {"queue": 1.0}
    assert whole(written, at=-60) == {"queue": 1.0}


def test_the_current_stage_counts_but_steps_count_only_when_done(written: WrittenRun) -> None:
    begin(written)
    assert "other" not in whole(written, at=30)
    written.call(0, 0, first=0, count=30, at=8, seconds=2.0)
    assert (whole(written, at=30)["steps"], whole(written, at=30)["other"]) == (2.0, 0.5)
    written.event("test", at=10.5, epoch=1)
    assert (whole(written, at=30)["evaluation"], whole(written, at=30)["other"]) == (19.5, 1.0)
    written.event("epoch", at=31, epoch=1, step=30)
    written.event("saving", at=31, step=30)
    assert whole(written, at=33)["checkpoints"] == 2.0
    assert sum(whole(written, at=33).values()) == 33


def test_a_stall_is_subtracted_from_its_call(written: WrittenRun) -> None:
    begin(written)
    written.call(0, 0, first=0, count=10, at=8, seconds=2.0)
    written.silence("stalled", at=30)
    assert whole(written, at=35)["stalls"] == 5.0
    written.call(0, 0, first=10, count=10, at=10, seconds=60.0)
    written.silence("recovered", at=70.25)
    written.call(0, 0, first=20, count=10, at=70.5, seconds=1.0)
    spent = whole(written)
    assert (spent["steps"], spent["stalls"]) == (63.0 - 40.0, 40.25)
    assert spent["other"] == 0.5 + 0.25
    assert sum(spent.values()) == 71.5


def test_a_stall_between_calls_is_not_subtracted_from_them(written: WrittenRun) -> None:
    begin(written)
    written.call(0, 0, first=0, count=10, at=8, seconds=2.0)
    written.silence("stalled", at=26)
    written.silence("recovered", at=46)
    written.call(0, 0, first=10, count=10, at=46, seconds=1.0)
    written.silence("stalled", at=63)
    finish(written, at=70, state="failed")
    spent = whole(written)
    assert (spent["steps"], spent["stalls"]) == (3.0, 20.0 + 7.0)
    assert sum(spent.values()) == 70


def test_a_failed_stage_has_its_seconds_up_to_the_failure(written: WrittenRun) -> None:
    written.state("queued", at=0)
    written.state("starting", at=1)
    written.event("start", at=2, step=0)
    finish(written, at=6.5, state="failed")
    assert first_step(written) == {"queue": 1.0, "start": 1.0, "data": 4.5}
    assert whole(written) == {"queue": 1.0, "start-up": 5.5}


def test_a_lost_run_is_counted_up_to_its_last_event(written: WrittenRun) -> None:
    begin(written)
    written.call(0, 0, first=0, count=30, at=8, seconds=2.0)
    written.dead()
    assert whole(written)["other"] == 0.5
    written.event("saving", at=12, step=30)
    assert "checkpoints" not in whole(written)
    assert sum(whole(written).values()) == 12


def test_an_unrecorded_first_step_is_unknown(written: WrittenRun) -> None:
    begin(written)
    written.event("unrecorded", at=9, first_step=0, steps=1, error="No space left on device")
    assert "first step" not in first_step(written)


def test_a_run_that_was_stopped_in_its_queue_has_only_waited(written: WrittenRun) -> None:
    written.state("queued", at=0)
    finish(written, at=30, state="stopped")
    assert first_step(written) == whole(written) == {"queue": 30.0}


def test_a_run_without_a_state_event_has_an_empty_ledger(
    written: WrittenRun,
) -> None:
    written.silence("recovered", at=0)
    assert ledger(written) == Ledger((), ())


def test_a_run_has_a_ledger_and_an_unreadable_run_raises(written: WrittenRun) -> None:
    begin(written)
    written.call(0, 0, first=0, count=1, at=8)
    finish(written, at=9)
    assert written.run.ledger == ledger(written)
    assert written.run.ledger.first_step[-1] == Entry("first step", 0.5)
    (written.run.dir / "plan.json").unlink()
    with pytest.raises(RunError, match=r"plan\.json"):
        read_ledger(written.run.dir)
