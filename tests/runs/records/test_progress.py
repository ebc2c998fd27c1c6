"""How far a run is, told without reading its records."""

import json
from collections.abc import Iterator

import pytest

from tests.runs.records.told import Told
from tests.runs.run_folders import Runs
from tests.waiting import until
from workbench.runs import Run

TWO = ("worker-0", "worker-1")
LED = ("chief-0", "worker-0", "worker-1", "ps-0", "evaluator-0")


def test_phases_before_the_first_record(told: Told) -> None:
    assert told.run.progress.phase == "queued"
    told.state("starting", at=1)
    assert told.run.progress.phase == "starting"
    told.says("start", at=2, step=0)
    progress = told.run.progress
    assert (progress.phase, progress.step, progress.epoch) == ("tracing", 0, 1)
    assert progress.steps_per_second is progress.eta_seconds is None
    assert (progress.total_steps, progress.epochs) == (60, 2)
    told.says("traced", at=4, seconds=1.5)
    progress = told.run.progress
    assert (progress.phase, progress.step) == ("training", 0)
    assert progress.steps_per_second is progress.eta_seconds is None


def test_rate_and_time_left_are_of_the_last_seconds_and_count_the_tests(told: Told) -> None:
    told.state("starting", at=1)
    told.says("start", at=2, step=0)
    told.call(0, 0, first=0, count=10, at=3)
    assert told.run.progress.steps_per_second is None  # the first call traces
    told.call(0, 0, first=10, count=10, at=10)
    told.call(0, 0, first=20, count=10, at=11)
    progress = told.run.progress
    assert (progress.phase, progress.step) == ("training", 30)
    assert progress.steps_per_second == pytest.approx(20 / 1.5)
    assert progress.eta_seconds == pytest.approx(30 / (20 / 1.5))
    told.says("test", at=12, epoch=1)
    assert told.run.progress.phase == "testing"
    told.says("epoch", at=14, epoch=1, step=30)
    assert told.run.progress.eta_seconds == pytest.approx(30 / (20 / 1.5) + 2)


def test_a_resumed_run_is_where_its_checkpoint_is(told: Told) -> None:
    told.call(0, 0, first=0, count=50, at=0)
    told.state("starting", at=10)
    told.says("start", at=12, step=30)
    progress = told.run.progress
    assert (progress.phase, progress.step, progress.epoch) == ("tracing", 30, 2)
    told.call(1, 30, first=30, count=5, at=13)
    assert told.run.progress.step == 35


def test_steps_that_could_not_be_recorded_are_done_and_missing(told: Told) -> None:
    told.state("starting", at=1)
    told.says("start", at=2, step=0)
    told.call(0, 0, first=0, count=20, at=3)
    told.says("unrecorded", at=4, first_step=20, steps=10, error="No space left on device")
    assert told.run.progress.step == 30
    assert told.run.missing == [(20, 29)]
    assert told.run.result()["steps"] == 30


def test_silence_is_told_and_the_rate_unknown_meanwhile(told: Told) -> None:
    told.state("starting", at=1)
    told.says("start", at=2, step=0)
    for number in range(3):
        told.call(0, 0, first=10 * number, count=10, at=3 + number)
    told.state("running", at=3)
    assert told.run.progress.steps_per_second is not None
    told.silence("stalled", at=30, silent_seconds=20)
    progress = told.run.progress
    assert progress.note == "worker-0 has been silent for more than 20 s."
    assert progress.steps_per_second is progress.eta_seconds is None


def test_the_events_of_all_writers_are_in_order_of_time(told: Told) -> None:
    told.state("starting", at=1)
    told.says("start", at=2, step=0)
    told.state("running", at=3)
    events = [(event["task"], event["event"]) for event in told.run.events()]
    assert events == [
        ("supervisor", "state"),
        ("supervisor", "state"),
        ("worker-0", "start"),
        ("supervisor", "state"),
    ]


def test_the_last_epochs_events_count_less_those_done_again(told: Told) -> None:
    for number, loss in ((1, 0.5), (2, 0.25)):
        told.says("epoch", epoch=number, step=30 * number, test_loss=loss)
    told.call(0, 0, first=0, count=60, at=0)
    assert told.run.epochs()["test_loss"].tolist() == [0.5, 0.25]
    told.says("start", step=30)
    assert told.run.epochs()["test_loss"].iloc[:1].tolist() == [0.5]
    assert told.run.epochs()["test_loss"].iloc[1:].isna().all()


def test_the_result_of_a_run_that_never_trained_is_unknown(told: Told) -> None:
    result = told.run.result()
    json.dumps(result, allow_nan=False)
    assert result["loss"] is result["test_accuracy"] is result["examples_per_second"] is None
    assert (result["status"], result["steps"]) == ("queued", 0)


def test_wait_gives_the_state_when_the_time_is_up(runs: Runs) -> None:
    run = runs.start(pauses={"20": "go"})
    until(lambda: run.status == "running")
    assert run.wait(timeout_seconds=0.0) == "running"


@pytest.fixture
def two(runs: Runs) -> Iterator[tuple[Told, Told]]:
    """A living run of two workers that step together."""
    run = runs.make(tasks=TWO)
    one, other = (Told(run, task) for task in TWO)
    one.alive()
    one.state("queued")
    one.state("starting", at=1)
    yield one, other
    one.dead()


@pytest.fixture
def led(runs: Runs) -> Iterator[tuple[Told, Told, Told]]:
    """A living run in which a chief leads two workers."""
    run = runs.make(tasks=LED)
    chief, one, other = (Told(run, task) for task in LED[:3])
    chief.alive()
    chief.state("queued")
    chief.state("starting", at=1)
    yield chief, one, other
    chief.dead()


def lanes(run: Run) -> list[tuple[str, str, int | None]]:
    return [(lane.task, lane.phase, lane.step) for lane in run.progress.lanes]


def test_workers_synchronous_are_as_far_as_the_first_and_as_fast_as_the_slowest(
    two: tuple[Told, Told],
) -> None:
    for worker, seconds in zip(two, (0.5, 1.0), strict=True):
        worker.says("start", at=2, step=0)
        for number in range(3):
            worker.call(0, 0, first=10 * number, count=10, at=3 + 2 * number, seconds=seconds)
    two[0].call(0, 0, first=30, count=5, at=8, seconds=0.25)
    progress = two[0].run.progress
    assert (progress.step, progress.phase) == (35, "training")
    assert lanes(two[0].run) == [("worker-0", "training", 35), ("worker-1", "training", 30)]
    rates = [lane.steps_per_second for lane in progress.lanes]
    assert rates[0] == pytest.approx(25 / 2.75)  # an epoch ends between
    assert progress.steps_per_second == rates[1] == pytest.approx(20 / 3)


def test_a_worker_that_has_not_recorded_yet_is_a_lane_at_its_start(two: tuple[Told, Told]) -> None:
    two[0].says("start", at=2, step=0)
    two[0].call(0, 0, first=0, count=10, at=3)
    assert lanes(two[0].run) == [("worker-0", "training", 10), ("worker-1", "training", 0)]


def test_the_silence_of_a_worker_is_noted_at_its_lane(two: tuple[Told, Told]) -> None:
    for worker in two:
        worker.says("start", at=2, step=0)
        worker.call(0, 0, first=0, count=10, at=3)
    two[0].silence("stalled", at=30, silent_seconds=20, task="worker-1")
    progress = two[0].run.progress
    assert "worker-1 has been silent" in progress.note
    assert [lane.note for lane in progress.lanes] == ["", "worker-1 has fallen silent."]
    two[0].silence("recovered", at=31, task="worker-1")
    assert [lane.note for lane in two[0].run.progress.lanes] == ["", ""]


def test_a_restarted_worker_is_no_silence(led: tuple[Told, Told, Told]) -> None:
    chief = led[0]
    chief.says("start", at=2, step=0)
    chief.silence("restarted", at=30, task="worker-1", cause="it was killed")
    assert chief.run.progress.note == ""


def test_under_a_chief_steps_and_speeds_of_the_workers_add_up(
    led: tuple[Told, Told, Told],
) -> None:
    chief, one, other = led
    chief.says("start", at=2, step=0)
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
    chief.says("test", at=6, epoch=1)
    assert lanes(chief.run)[0] == ("chief-0", "testing", None)


def test_a_resumed_run_under_a_chief_is_where_its_checkpoint_is(
    led: tuple[Told, Told, Told],
) -> None:
    chief, one, other = led
    for worker in (one, other):
        worker.call(0, 0, first=0, count=20, at=0)
    for worker in (one, other):
        worker.call(1, 15, first=15, count=0, at=12)
    chief.says("start", at=12, step=30)
    assert lanes(chief.run)[:2] == [("chief-0", "tracing", None), ("worker-0", "tracing", 15)]
    assert chief.run.progress.step == 30
    one.call(1, 15, first=15, count=5, at=13)
    other.call(1, 15, first=15, count=1, at=13)
    assert chief.run.progress.step == 36
