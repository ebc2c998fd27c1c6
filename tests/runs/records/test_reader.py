"""A reader that follows a task's growing records."""

from pathlib import Path

import numpy as np
import pytest

from tests.runs.records.recording import TaskWriter
from workbench.runs import Block, StepReader


@pytest.fixture
def task(tmp_path: Path) -> TaskWriter:
    return TaskWriter(tmp_path / "worker-0")


class Follower:
    """The rows that a chart would hold: step to (loss of replica 0, seconds of its call)."""

    def __init__(self, task: TaskWriter) -> None:
        self.reader = StepReader(task.dir, task.replicas)
        self.held: dict[int, tuple[float, float]] = {}
        self.blocks: list[Block] = []

    def poll(self) -> list[int]:
        self.blocks = list(self.reader.poll())
        for block in self.blocks:
            if block.replaces:
                self.held = {k: v for k, v in self.held.items() if k < block.first_step}
            for row, (values, seconds) in enumerate(
                zip(block.values, block.call_seconds, strict=True)
            ):
                loss = float(values[0, 0] / values[0, 2])
                self.held[block.first_step + row] = (loss, float(seconds))
        return [block.first_step for block in self.blocks]


def test_a_poll_returns_new_rows_once(task: TaskWriter) -> None:
    follower = Follower(task)
    assert follower.poll() == []
    task.call(0, 0, first=0, count=3, start=100.0)
    assert follower.poll() == [0]
    assert follower.poll() == []
    task.call(0, 0, first=3, count=2, start=101.0)
    assert follower.poll() == [3]
    assert follower.blocks[0].values.shape == (2, 2, 3)
    assert follower.blocks[0].call_steps.tolist() == [2, 2]
    assert not follower.blocks[0].replaces
    assert follower.held == {step: (step, 0.5) for step in range(5)}


def test_rows_wait_for_their_call(task: TaskWriter) -> None:
    follower = Follower(task)
    task.add_steps(0, 0, task.rows(0, 3))
    assert follower.poll() == []
    task.add_calls(0, 0, [0, 3, 100.0, 0.5])
    assert follower.poll() == [0]
    assert follower.held == {step: (step, 0.5) for step in range(3)}


def test_a_partly_written_call_waits_for_its_end(task: TaskWriter) -> None:
    follower = Follower(task)
    task.call(0, 0, first=0, count=1, start=100.0)
    task.add_steps(0, 0, task.rows(1, 1))
    call = np.array([1, 1, 101.0, 0.5]).tobytes()
    log = task.dir / "calls.f8"
    with log.open("ab") as file:
        file.write(call[:7])
    assert follower.poll() == [0]
    with log.open("ab") as file:
        file.write(call[7:])
    assert follower.poll() == [1]
    assert follower.held[1] == (1.0, 0.5)


def test_a_resumed_run_replaces_what_it_does_again(task: TaskWriter) -> None:
    follower = Follower(task)
    task.call(0, 0, first=0, count=8, start=100.0)
    follower.poll()
    task.call(0, 0, first=8, count=2, start=100.0)
    task.call(1, 5, first=5, count=2, start=200.0, marker=100.0)
    follower.poll()
    assert [block.replaces for block in follower.blocks][-1]
    assert follower.held == {
        **{step: (step, 0.5) for step in range(5)},
        5: (105.0, 0.5),
        6: (106.0, 0.5),
    }
    task.call(1, 5, first=7, count=1, start=201.0, marker=100.0)
    assert follower.poll() == [7]
    assert not follower.blocks[0].replaces


def test_a_late_reader_has_the_same_rows_as_an_early_one(task: TaskWriter) -> None:
    early = Follower(task)
    for number, first, count in ((0, 0, 9), (1, 4, 3), (2, 12, 2), (3, 6, 4)):
        task.call(number, first, first=first, count=count, start=100.0, marker=number)
        early.poll()
    late = Follower(task)
    late.poll()
    assert late.held == early.held
    assert sorted(late.held) == list(range(10))


def test_records_that_another_folder_replaced_are_read_again(task: TaskWriter) -> None:
    follower = Follower(task)
    for first in (0, 2):
        task.call(0, 0, first=first, count=2, start=100.0)
    follower.poll()
    (task.dir / "calls.f8").unlink()
    TaskWriter(task.dir).call(0, 0, first=0, count=2, start=100.0, marker=0.5)
    follower.poll()
    assert follower.blocks[0].replaces
    assert follower.held == {0: (0.5, 0.5), 1: (1.5, 0.5)}


def test_missing_files_give_no_new_rows(task: TaskWriter) -> None:
    follower = Follower(task)
    task.call(0, 0, first=0, count=4, start=100.0)
    follower.poll()
    for path in task.dir.iterdir():
        path.unlink()
    assert follower.poll() == []
    task.dir.rmdir()
    assert follower.poll() == []
