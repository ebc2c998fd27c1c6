"""Runs that resumed with more or fewer workers."""

from pathlib import Path

import numpy as np
import pytest

from tests.runs.records.recording import TaskWriter
from workbench.runs import Block
from workbench.runs.records.arrays import (
    Shape,
    WorkerCounts,
    missing_ranges,
    read_tasks,
    steps_with,
    worker_counts_of,
    workers_at,
)
from workbench.runs.records.curves import Curves
from workbench.runs.records.frames import epoch_frame, replica_frame, step_frame
from workbench.runs.records.speed import steady_rate

COUNTS = ((0, 2), (6, 1), (8, 3))
SHAPE = Shape(replicas=2, steps_per_epoch=10, worker_counts=COUNTS)


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    """Two workers did 8 steps; one worker repeated the last 2; three workers went on to 12."""
    workers = [TaskWriter(tmp_path / f"worker-{number}") for number in range(3)]
    for worker in workers[:2]:
        worker.call(0, 0, first=0, count=8, start=100.0)
    workers[0].call(1, 6, first=6, count=2, start=200.0)
    for number, worker in enumerate(workers):
        worker.call((2, 1, 0)[number], 8, first=8, count=4, start=300.0)
    return tmp_path


def test_worker_counts_come_from_the_start_events_of_the_leader() -> None:
    events = [{"event": "start", "step": step, "workers": n} for step, n in COUNTS]
    assert worker_counts_of([*events, {"event": "test"}]) == COUNTS
    assert worker_counts_of([{"event": "start", "step": 0}]) == ()


def test_a_step_has_the_workers_that_did_it_last() -> None:
    assert workers_at(COUNTS, np.array([0, 5, 6, 7, 8, 11])).tolist() == [2, 2, 1, 1, 3, 3]


@pytest.mark.parametrize("counts", [(), COUNTS, ((3, 1),), ((0, 1), (8, 3), (2, 2), (90, 1))])
@pytest.mark.parametrize("worker", [0, 1, 2])
def test_the_steps_of_a_worker_are_counted_without_a_value_for_each_step(
    counts: WorkerCounts, worker: int
) -> None:
    edges = np.array([0, 5, 10, 15])
    each = workers_at(counts, np.arange(15)).reshape(3, 5)
    assert steps_with(worker, counts, edges).tolist() == (worker < each).sum(axis=1).tolist()


def test_a_long_epoch_needs_no_memory_for_its_steps() -> None:
    edges = np.array([0, 10**15])
    assert steps_with(0, ((0, 1),), edges).tolist() == [10**15]


def test_steps_that_fewer_workers_repeated_are_left_out_for_the_others(run_dir: Path) -> None:
    frame = replica_frame(read_tasks(run_dir, SHAPE), ["step", "worker"])
    steps = {worker: part["step"].unique().tolist() for worker, part in frame.groupby("worker")}
    assert steps == {0: list(range(1, 13)), 1: [*range(1, 7), *range(9, 13)], 2: list(range(9, 13))}


def test_steps_are_complete_with_the_workers_that_took_part(run_dir: Path) -> None:
    tasks = read_tasks(run_dir, SHAPE)
    frame = step_frame(tasks)
    assert frame["step"].tolist() == list(range(1, 13))
    assert frame["examples"].tolist() == [16] * 6 + [8] * 2 + [24] * 4
    assert missing_ranges(tasks, 12) == []


def test_rate_and_seconds_count_the_workers_that_took_part(run_dir: Path) -> None:
    for number, calls in ((0, 4), (1, 2)):
        writer = TaskWriter(run_dir / "went" / f"worker-{number}")
        for call in range(calls):
            writer.call(0, 0, first=5 * call, count=5, start=100.0 + call / 2)
    shape = Shape(replicas=2, steps_per_epoch=10, worker_counts=((0, 2), (10, 1)))
    tasks = read_tasks(run_dir / "went", shape)
    # The first call of each is left out: 3 and 1 of 0.5 s, with 40 examples each.
    assert steady_rate(tasks) == 4 * 40 / 1.5
    assert epoch_frame(tasks, {1: {}, 2: {}})["seconds"].tolist() == [1.0, 1.0]


def test_the_joined_line_continues_when_the_workers_change() -> None:
    curves = Curves(1, tasks=2)
    curves.worker_counts = ((0, 2), (2, 1))
    for task, count in ((0, 4), (1, 2)):
        rows = np.tile(np.float32([[8 * (task + 1), 4, 8]]), (count, 1, 1))
        curves.add(Block(0, rows, np.ones(count), np.full(count, float(count)), False), task)
    points = curves.points()
    assert points.loss.joined.tolist() == [1.5, 1.5, 1.0, 1.0]
    assert np.isnan(points.loss.mean[2:, 1]).all()
