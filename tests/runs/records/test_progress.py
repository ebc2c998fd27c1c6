"""A run's progress, found without reading its records."""

import json
from collections.abc import Iterator

import pytest

from tests.runs.records.written_run import WrittenRun
from tests.runs.run_folders import Runs
from tests.waiting import until
from workbench.runs import Run

TWO = ("worker-0", "worker-1")
LED = ("chief-0", "worker-0", "worker-1", "ps-0", "evaluator-0")


def test_phases_before_the_first_record(written: WrittenRun) -> None:
    assert written.run.progress.phase == "queued"
    written.state("starting", at=1)
    assert written.run.progress.phase == "starting"
    written.event("start", at=2, step=0)
    progress = written.run.progress
    assert (progress.phase, progress.step, progress.epoch) == ("tracing", 0, 1)
    assert progress.steps_per_second is progress.eta_seconds is None
    assert (progress.total_steps, progress.epochs) == (60, 2)
    written.event("traced", at=4, seconds=1.5)
    progress = written.run.progress
    assert (progress.phase, progress.step) == ("training", 0)
    assert progress.steps_per_second is progress.eta_seconds is None


def test_rate_and_time_left_use_the_last_seconds_and_count_test_passes(
    written: WrittenRun,
) -> None:
    written.state("starting", at=1)
    written.event("start", at=2, step=0)
    written.call(0, 0, first=0, count=10, at=3)
    assert written.run.progress.steps_per_second is None  # the first call traces
    written.call(0, 0, first=10, count=10, at=10)
    written.call(0, 0, first=20, count=10, at=11)
    progress = written.run.progress
    assert (progress.phase, progress.step) == ("training", 30)
    assert progress.steps_per_second == pytest.approx(20 / 1.5)
    assert progress.examples_per_second == pytest.approx(8 * 20 / 1.5)  # of 8 examples a step
    test_steps = written.run.plan.test_steps
    assert progress.eta_seconds == pytest.approx((30 + test_steps) / (20 / 1.5))
    written.event("test", at=12, epoch=1)
    assert (written.run.progress.phase, written.run.progress.epoch) == ("testing", 1)
    written.event("epoch", at=14, epoch=1, step=30)
    assert written.run.progress.eta_seconds == pytest.approx(30 / (20 / 1.5) + 2)


def test_a_queued_run_names_the_runs_that_it_waits_for(written: WrittenRun) -> None:
    ahead = written.run.dir.parent / "one"
    ahead.mkdir()
    (ahead / "run.json").write_text("{}")
    written.state("queued", at=1, devices=["CPU:0"], behind=["one", "of-another-folder"])
    progress = written.run.progress
    assert progress.waits_for == ("one",)
    assert progress.note == "Waits for CPU:0 behind one, of-another-folder."
    written.state("starting", at=2)
    assert (written.run.progress.note, written.run.progress.waits_for) == ("", ())


def test_a_resumed_run_starts_at_the_step_of_its_checkpoint(written: WrittenRun) -> None:
    written.call(0, 0, first=0, count=50, at=0)
    written.state("starting", at=10)
    written.event("start", at=12, step=30)
    progress = written.run.progress
    assert (progress.phase, progress.step, progress.epoch) == ("tracing", 30, 2)
    assert [lane.step for lane in progress.lanes] == [30]
    written.call(1, 30, first=30, count=5, at=13)
    assert written.run.progress.step == 35


def test_unrecorded_steps_count_as_done_and_missing(written: WrittenRun) -> None:
    written.state("starting", at=1)
    written.event("start", at=2, step=0)
    written.call(0, 0, first=0, count=20, at=3)
    written.event("unrecorded", at=4, first_step=20, steps=10, error="No space left on device")
    assert written.run.progress.step == 30
    assert written.run.missing == [(21, 30)]
    assert written.run.result()["steps"] == 30


def test_a_silence_is_reported_and_makes_the_rate_unknown(written: WrittenRun) -> None:
    written.state("starting", at=1)
    written.event("start", at=2, step=0)
    for number in range(3):
        written.call(0, 0, first=10 * number, count=10, at=3 + number)
    written.state("running", at=3)
    assert written.run.progress.steps_per_second is not None
    written.silence("stalled", at=30, silent_seconds=20)
    progress = written.run.progress
    assert progress.note == "worker-0 has been silent for more than 20 s."
    assert progress.steps_per_second is progress.eta_seconds is None


def test_a_task_that_was_started_again_is_reported_in_its_lane_and_to_the_page(
    written: WrittenRun,
) -> None:
    written.alive()
    written.state("starting", at=1)
    written.state("running", at=2)
    for at in (3, 4):
        written.silence("restarted", at=at, cause="The trainer was killed (SIGKILL).")
    note = "worker-0 ended and was started again (2). The trainer was killed (SIGKILL)."
    progress = written.run.progress
    assert progress.note == note
    assert [lane.note for lane in progress.lanes] == [note]
    written.state("starting", at=5)
    assert written.run.progress.note == ""
    written.dead()


def test_a_resumed_run_that_waits_tells_nothing_of_its_earlier_attempt(
    written: WrittenRun,
) -> None:
    written.alive()
    written.state("starting", at=1)
    written.event("start", at=2, step=0)
    written.state("running", at=2)
    written.silence("clock_differs", at=2, ahead_seconds=3600.0)
    written.silence("rehearsed", at=2, trouble="The model cannot be saved.")
    written.silence("restarted", at=3, cause="The trainer was killed (SIGKILL).")
    written.silence("stalled", at=4, silent_seconds=20)
    written.event("checkpoint_failed", at=4, step=30, error="No space left on device")
    for told in ("silent", "started again", "clocks", "could not be saved"):
        assert told in written.run.progress.note
    written.state("failed", at=5, cause="Killed.")
    written.state("queued", at=6, devices=["CPU:0"], behind=["one"])
    progress = written.run.progress
    assert progress.note == "Waits for CPU:0 behind one."
    assert [lane.note for lane in progress.lanes] == [""]
    written.dead()


def test_hosts_whose_clock_differs_are_noted_with_the_difference_and_its_effect(
    written: WrittenRun,
) -> None:
    written.state("starting", at=1)
    written.silence("clock_differs", at=2, ahead_seconds=3600.0)
    written.silence("clock_differs", at=2, task="worker-1", ahead_seconds=-4.5)
    for state in ("running", "finished"):
        written.state(state, at=3)
        note = written.run.progress.note
        assert "worker-0 is 3,600.0 s ahead, that of worker-1 is 4.5 s behind" in note
        assert "Times in their logs are wrong by this much" in note
        assert "Synchronize" in note
    written.state("starting", at=4)
    assert written.run.progress.note == ""


def test_the_events_of_all_writers_are_ordered_by_time(written: WrittenRun) -> None:
    written.state("starting", at=1)
    written.event("start", at=2, step=0)
    written.state("running", at=3)
    events = [(event["task"], event["event"]) for event in written.run.events()]
    assert events == [
        ("supervisor", "state"),
        ("supervisor", "state"),
        ("worker-0", "start"),
        ("supervisor", "state"),
    ]


def test_epochs_that_a_resume_repeats_are_dropped(written: WrittenRun) -> None:
    for number, loss in ((1, 0.5), (2, 0.25)):
        written.event("epoch", epoch=number, step=30 * number, test_loss=loss)
    written.call(0, 0, first=0, count=60, at=0)
    assert written.run.epochs()["test_loss"].tolist() == [0.5, 0.25]
    written.event("start", step=30)
    assert written.run.epochs()["test_loss"].iloc[:1].tolist() == [0.5]
    assert written.run.epochs()["test_loss"].iloc[1:].isna().all()


def test_the_result_of_a_run_that_never_trained_is_unknown(written: WrittenRun) -> None:
    result = written.run.result()
    json.dumps(result, allow_nan=False)
    assert result["loss"] is result["test_accuracy"] is result["examples_per_second"] is None
    assert (result["status"], result["steps"]) == ("queued", 0)


def test_wait_returns_the_state_after_its_timeout(runs: Runs) -> None:
    run = runs.start(pauses={"20": "go"})
    until(lambda: run.status == "running")
    assert run.wait(timeout_seconds=0.0) == "running"


@pytest.fixture
def two(runs: Runs) -> Iterator[tuple[WrittenRun, WrittenRun]]:
    """A living run of two workers that step together."""
    run = runs.make(tasks=TWO)
    one, other = (WrittenRun(run, task) for task in TWO)
    one.alive()
    one.state("queued")
    one.state("starting", at=1)
    yield one, other
    one.dead()


@pytest.fixture
def led(runs: Runs) -> Iterator[tuple[WrittenRun, WrittenRun, WrittenRun]]:
    """A living run in which a chief leads two workers."""
    run = runs.make(tasks=LED)
    chief, one, other = (WrittenRun(run, task) for task in LED[:3])
    chief.alive()
    chief.state("queued")
    chief.state("starting", at=1)
    yield chief, one, other
    chief.dead()


def lanes(run: Run) -> list[tuple[str, str, int | None]]:
    return [(lane.task, lane.phase, lane.step) for lane in run.progress.lanes]


def test_synchronous_workers_have_the_first_step_count_and_the_slowest_rate(
    two: tuple[WrittenRun, WrittenRun],
) -> None:
    for worker, seconds in zip(two, (0.5, 1.0), strict=True):
        worker.event("start", at=2, step=0)
        for number in range(3):
            worker.call(0, 0, first=10 * number, count=10, at=3 + 2 * number, seconds=seconds)
    two[0].call(0, 0, first=30, count=5, at=8, seconds=0.25)
    progress = two[0].run.progress
    assert (progress.step, progress.phase) == (35, "training")
    assert lanes(two[0].run) == [("worker-0", "training", 35), ("worker-1", "training", 30)]
    rates = [lane.steps_per_second for lane in progress.lanes]
    assert rates[0] == pytest.approx(25 / 2.75)  # an epoch ends between two calls
    assert progress.steps_per_second == rates[1] == pytest.approx(20 / 3)


def test_a_worker_without_records_is_a_lane_at_its_start(
    two: tuple[WrittenRun, WrittenRun],
) -> None:
    two[0].event("start", at=2, step=0)
    two[0].call(0, 0, first=0, count=10, at=3)
    assert lanes(two[0].run) == [("worker-0", "training", 10), ("worker-1", "training", 0)]


def test_the_silence_of_a_worker_is_noted_at_its_lane(two: tuple[WrittenRun, WrittenRun]) -> None:
    for worker in two:
        worker.event("start", at=2, step=0)
        worker.call(0, 0, first=0, count=10, at=3)
    two[0].silence("stalled", at=30, silent_seconds=20, task="worker-1")
    progress = two[0].run.progress
    assert "worker-1 has been silent" in progress.note
    assert [lane.note for lane in progress.lanes] == ["", "worker-1 is silent."]
    two[0].silence("recovered", at=31, task="worker-1")
    assert [lane.note for lane in two[0].run.progress.lanes] == ["", ""]


def test_a_restarted_worker_is_not_silent(led: tuple[WrittenRun, WrittenRun, WrittenRun]) -> None:
    chief = led[0]
    chief.event("start", at=2, step=0)
    chief.silence("restarted", at=30, task="worker-1", cause="It was killed.")
    assert chief.run.progress.note == "worker-1 ended and was started again (1). It was killed."


def test_under_a_chief_steps_and_speeds_of_the_workers_add_up(
    led: tuple[WrittenRun, WrittenRun, WrittenRun],
) -> None:
    chief, one, other = led
    chief.event("start", at=2, step=0)
    assert lanes(chief.run)[0] == ("chief-0", "tracing", None)
    assert lanes(chief.run)[3] == ("ps-0", "serving", None)
    for worker, count in ((one, 10), (other, 5)):
        for number in range(2):
            worker.call(0, 0, first=count * number, count=count, at=3 + number, seconds=1.0)
    progress = chief.run.progress
    assert (progress.step, progress.phase) == (30, "training")
    assert lanes(chief.run) == [
        ("chief-0", "training", None),
        ("worker-0", "training", 20),
        ("worker-1", "training", 10),
        ("ps-0", "serving", None),
        ("evaluator-0", "testing", None),
    ]
    assert progress.steps_per_second == pytest.approx(15.0)
    chief.event("test", at=6, epoch=1)
    assert lanes(chief.run)[0] == ("chief-0", "testing", None)


def test_a_resumed_run_under_a_chief_starts_at_its_checkpoint(
    led: tuple[WrittenRun, WrittenRun, WrittenRun],
) -> None:
    chief, one, other = led
    for worker in (one, other):
        worker.call(0, 0, first=0, count=20, at=0)
    for worker in (one, other):
        worker.call(1, 15, first=15, count=0, at=12)
    chief.event("start", at=12, step=30)
    assert lanes(chief.run)[:2] == [("chief-0", "tracing", None), ("worker-0", "tracing", 15)]
    assert chief.run.progress.step == 30
    one.call(1, 15, first=15, count=5, at=13)
    other.call(1, 15, first=15, count=1, at=13)
    assert chief.run.progress.step == 36
