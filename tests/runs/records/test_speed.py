"""A run's speed: in the steady state, and over the last ten seconds; and the time left."""

from pathlib import Path

import pytest

from tests.runs.records.recording import TaskWriter
from workbench.runs.records.arrays import Shape, read_tasks
from workbench.runs.records.speed import (
    Speed,
    joined_speed,
    recent_speed,
    seconds_left,
    steady_rate,
)

SHAPE = Shape(replicas=2, steps_per_epoch=10)
LONG = Shape(replicas=2, steps_per_epoch=100_000)
IN_STEP = 8
"""The examples of a step of `TaskWriter` with two replicas."""
SPEED = Speed(10.0, 10.0 * IN_STEP)


@pytest.fixture
def task(tmp_path: Path) -> TaskWriter:
    return TaskWriter(tmp_path / "worker-0")


def test_the_steady_rate_leaves_out_first_calls_and_test_passes(task: TaskWriter) -> None:
    task.call(0, 0, first=0, count=1, start=100.0)  # it may trace, so it is left out
    task.call(0, 0, first=1, count=4, start=200.0)  # 1 s until the next: 32 examples
    task.call(0, 0, first=5, count=5, start=201.0)  # the epoch's last, without a gap 0.5 s: 40
    task.call(0, 0, first=10, count=5, start=900.0)  # 0.75 s until the next: 40
    task.call(0, 0, first=15, count=5, start=900.75)  # the last: 0.5 s, 40
    assert steady_rate(read_tasks(task.dir.parent, SHAPE)) == pytest.approx(152 / 2.75)


def test_one_call_alone_gives_no_steady_rate(task: TaskWriter) -> None:
    task.call(0, 0, first=0, count=5, start=100.0)
    assert steady_rate(read_tasks(task.dir.parent, SHAPE)) is None


def test_the_steady_rate_of_nothing_is_unknown(tmp_path: Path) -> None:
    assert steady_rate([]) is steady_rate(read_tasks(tmp_path, SHAPE)) is None


def test_the_recent_speed_is_that_of_the_last_ten_seconds_however_many_calls_they_have(
    task: TaskWriter,
) -> None:
    for call in range(4000):  # first 20 s at 100 steps per second, then 20 s at 50
        at = min(call, 2000) / 100 + max(0, call - 2000) / 50
        task.call(0, 0, first=call, count=1, start=100.0 + at, seconds=0.01)
    found = recent_speed(task.dir, LONG)
    assert found is not None
    assert found.steps_per_second == pytest.approx(50, rel=0.01)
    assert found.examples_per_second == pytest.approx(IN_STEP * found.steps_per_second)


def test_a_test_pass_does_not_use_up_the_ten_seconds(task: TaskWriter) -> None:
    task.call(0, 0, first=0, count=1, start=100.0)
    task.call(0, 0, first=1, count=9, start=101.0, seconds=1.0)
    task.call(0, 0, first=10, count=1, start=160.0, seconds=1.0)  # after a pass of a minute
    assert recent_speed(task.dir, SHAPE) == Speed(10 / 2.0, IN_STEP * 10 / 2.0)


def test_the_epochs_of_a_worker_that_counts_its_own_steps_are_known(task: TaskWriter) -> None:
    task.call(0, 0, first=0, count=1, start=100.0)
    task.call(0, 0, first=1, count=4, start=101.0, seconds=1.0)
    task.call(0, 0, first=5, count=6, start=160.0, seconds=1.0)
    led = Shape(replicas=2, steps_per_epoch=10, synchronous=False)
    assert recent_speed(task.dir, led, epoch_ends=[5]) == Speed(10 / 2.0, IN_STEP * 10 / 2.0)


def test_the_first_call_has_no_speed(task: TaskWriter) -> None:
    assert recent_speed(task.dir, SHAPE) is None
    task.call(0, 0, first=0, count=5, start=100.0)
    assert recent_speed(task.dir, SHAPE) is None


def test_examples_are_counted_and_not_planned(task: TaskWriter) -> None:
    for first, count in ((0, 1), (1, 2)):
        rows = task.rows(first, count)
        rows[-1, :, 2] = 1  # the last batch of an epoch is a short one
        task.add_steps(0, 0, rows)
        task.add_calls(0, 0, [first, count, 100.0 + first, 1.0])
    assert recent_speed(task.dir, SHAPE) == Speed(2.0, IN_STEP + 2.0)


def test_synchronous_workers_are_as_fast_as_the_slowest_and_others_add_up() -> None:
    slow = Speed(5.0, 5.0 * IN_STEP)
    assert joined_speed([SPEED, slow], synchronous=True) == Speed(5.0, 5.0 * 2 * IN_STEP)
    assert joined_speed([SPEED, slow], synchronous=False) == Speed(15.0, 15.0 * IN_STEP)
    assert joined_speed([SPEED, None], synchronous=True) is None
    assert joined_speed([SPEED, None], synchronous=False) == SPEED
    assert joined_speed([None], synchronous=False) is None


def left(*pass_seconds: float, test_steps: int | None = 20) -> float | None:
    """Return the time left of three epochs of ten steps after test passes of these lengths."""
    events = []
    for at, seconds in enumerate(pass_seconds):
        events += [{"event": "test", "time": 100.0 * at}]
        events += [{"event": "epoch", "time": 100.0 * at + seconds}]
    return seconds_left(SPEED, 30, SHAPE, test_steps, events)


def test_the_time_left_does_not_jump_when_the_first_test_pass_took_long() -> None:
    assert left() == left(15.0) == 3.0 + 3 * 2.0  # 20 test steps at ten steps per second
    assert left(0.5) == 3.0 + 3 * 0.5
    assert left(15.0, 1.0) == 3.0 + 3 * 1.0
    assert left(15.0, 1.0, 3.0, 1.5) == 3.0 + 3 * 1.5


def test_the_time_left_is_unknown_without_a_speed_and_has_no_passes_that_nobody_waits_for() -> None:
    assert seconds_left(None, 30, SHAPE, 20, []) is None
    assert left(test_steps=0) == 3.0
