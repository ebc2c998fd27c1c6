"""Records as frames: replaced rows, gaps, torn ends, several tasks, weights."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.runs.records.recording import TaskWriter
from workbench.runs import RunError
from workbench.runs.records.arrays import Shape, missing_ranges, read_tasks
from workbench.runs.records.frames import epoch_frame, replica_frame, step_frame

SHAPE = Shape(replicas=2, steps_per_epoch=10)
LED = Shape(replicas=1, steps_per_epoch=10, synchronous=False)


@pytest.fixture
def task(tmp_path: Path) -> TaskWriter:
    return TaskWriter(tmp_path / "worker-0")


def test_each_replica_of_each_step_has_a_row(task: TaskWriter) -> None:
    task.call(0, 0, first=0, count=10, start=100.0)
    task.call(0, 0, first=10, count=5, start=101.0)
    frame = replica_frame(read_tasks(task.dir.parent, SHAPE))
    assert frame["step"].tolist() == [step for step in range(1, 16) for _ in range(2)]
    assert frame["replica"].tolist() == [0, 1] * 15
    assert frame["epoch"].tolist() == [1] * 20 + [2] * 10
    assert frame["loss"].iloc[:4].tolist() == pytest.approx([0.0, 0.1, 1.0, 1.1])
    assert (frame["accuracy"] == 0.25).all()
    assert (frame["examples"] == 4).all()
    assert (frame["call_seconds"] == 0.5).all()
    assert (frame["worker"] == 0).all()
    assert frame.memory_usage(index=False).sum() == 32 * len(frame)


def test_time_and_speed_are_columns_on_request(
    task: TaskWriter,
) -> None:
    task.call(0, 0, first=0, count=4, start=100.0)
    task.add_steps(0, 0, task.rows(4, 1))
    task.add_calls(0, 0, [4, 1, np.nan, 0.5])  # damaged
    (records,) = read_tasks(task.dir.parent, Shape(2, 8))
    frame = replica_frame([records], ["step", "time", "examples_per_second"])
    assert frame["time"].tolist()[:8:2] == [100.125, 100.25, 100.375, 100.5]
    assert set(frame["examples_per_second"][:8]) == {4 * 4 / 0.5}
    assert frame[8:][["time", "examples_per_second"]].isna().to_numpy().all()


def test_only_requested_columns_are_made_and_unknown_names_are_refused(task: TaskWriter) -> None:
    task.call(0, 0, first=0, count=2, start=100.0)
    tasks = read_tasks(task.dir.parent, SHAPE)
    assert list(replica_frame(tasks, ["step", "loss"])) == ["step", "loss"]
    with pytest.raises(RunError, match=r"no column 'los'\. Leave it out, or choose from step, "):
        replica_frame(tasks, ["los"])
    assert list(step_frame(tasks, ["loss", "step"])) == ["loss", "step"]
    with pytest.raises(RunError, match=r"no column 'worker'\. Leave it out, or choose from step, "):
        step_frame(tasks, ["worker"])


def test_requested_columns_of_a_step_are_those_of_the_complete_frame(tmp_path: Path) -> None:
    led_workers(tmp_path)
    tasks = read_tasks(tmp_path, LED)
    complete, columns = step_frame(tasks), ["worker", "loss"]
    assert list(complete)[-1] == "worker"
    pd.testing.assert_frame_equal(step_frame(tasks, columns), complete[columns])


def test_a_later_attempt_replaces_earlier_rows_from_its_first_step_on(task: TaskWriter) -> None:
    task.call(0, 0, first=0, count=10, start=100.0)
    task.call(0, 0, first=10, count=10, start=101.0)
    task.call(1, 10, first=10, count=4, start=200.0, marker=0.5)
    task.call(2, 12, first=12, count=4, start=300.0, marker=0.25)
    frame = step_frame(read_tasks(task.dir.parent, SHAPE))
    assert frame["step"].tolist() == list(range(1, 17))
    markers = (frame["loss"] - frame["step"] + 0.95).round(4)
    assert markers.tolist() == [0.0] * 10 + [0.5] * 2 + [0.25] * 4
    assert frame["call_seconds"].notna().all()
    rates = frame["examples_per_second"]
    assert rates.iloc[:10].tolist() == [160.0] * 10
    assert rates.iloc[10:12].isna().all()  # later rows replace half of that call's rows
    assert rates.iloc[12:].tolist() == [64.0] * 4


def test_an_attempt_that_starts_before_another_replaces_it_completely(task: TaskWriter) -> None:
    task.call(0, 0, first=0, count=5, start=100.0)
    task.call(1, 8, first=8, count=4, start=101.0)
    task.call(2, 4, first=4, count=2, start=102.0, marker=0.5)
    frame = step_frame(read_tasks(task.dir.parent, SHAPE))
    assert frame["step"].tolist() == [1, 2, 3, 4, 5, 6]


def test_a_gap_is_absent_and_listed_as_missing(task: TaskWriter) -> None:
    task.call(0, 0, first=0, count=5, start=100.0)
    task.call(1, 9, first=9, count=3, start=101.0)
    tasks = read_tasks(task.dir.parent, SHAPE)
    assert step_frame(tasks)["step"].tolist() == [1, 2, 3, 4, 5, 10, 11, 12]
    assert missing_ranges(tasks, 12) == [(5, 8)]
    assert missing_ranges(tasks, 20) == [(5, 8), (12, 19)]
    assert missing_ranges([], 3) == [(0, 2)]
    assert missing_ranges(tasks, 0) == []


@pytest.mark.parametrize("torn_bytes", range(1, 24))
def test_a_torn_end_is_left_out(task: TaskWriter, torn_bytes: int) -> None:
    task.call(0, 0, first=0, count=3, start=100.0)
    for path in task.dir.iterdir():
        path.write_bytes(path.read_bytes() + b"\xff" * torn_bytes)
    frame = replica_frame(read_tasks(task.dir.parent, SHAPE))
    assert len(frame) == 6
    assert frame["loss"].notna().all()


def test_steps_whose_call_is_damaged_have_no_time_but_are_present(task: TaskWriter) -> None:
    task.call(0, 0, first=0, count=3, start=100.0)
    task.add_steps(0, 0, task.rows(3, 2))
    task.add_calls(0, 0, [3, 2.5, 101.0, 0.5])
    task.call(0, 0, first=5, count=2, start=102.0)
    frame = step_frame(read_tasks(task.dir.parent, SHAPE))
    assert frame["step"].tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert frame["call_seconds"].isna().tolist() == [False] * 3 + [True] * 2 + [False] * 2


def test_steps_whose_call_is_not_logged_do_not_count(task: TaskWriter) -> None:
    task.call(0, 0, first=0, count=3, start=100.0)
    task.add_steps(0, 0, task.rows(3, 2))
    frame = step_frame(read_tasks(task.dir.parent, SHAPE))
    assert frame["step"].tolist() == [1, 2, 3]


def test_means_are_weighted_by_examples_and_unknown_values_are_nan(task: TaskWriter) -> None:
    rows = np.array([[[6, np.nan, 3], [1, np.nan, 1]], [[0, np.nan, 0], [5, np.nan, 1]]])
    task.add_steps(0, 0, rows.astype(np.float32))
    task.add_calls(0, 0, [0, 2, 100.0, np.nan])  # damaged
    tasks = read_tasks(task.dir.parent, SHAPE)
    steps = step_frame(tasks)
    assert steps["loss"].tolist() == [7 / 4, 5.0]
    assert steps["accuracy"].isna().all()
    assert steps["examples"].tolist() == [4, 1]
    replicas = replica_frame(tasks)
    assert replicas["loss"].isna().tolist() == [False, False, True, False]
    assert steps["examples_per_second"].isna().all()


def test_several_tasks_are_one_run_with_global_replica_numbers(tmp_path: Path) -> None:
    for number in (1, 0, 10):
        writer = TaskWriter(tmp_path / f"worker-{number}")
        writer.call(0, 0, first=0, count=3 if number == 10 else 4, start=100.0, marker=number)
    tasks = read_tasks(tmp_path, SHAPE)
    frame = replica_frame(tasks, ["worker", "replica", "step"])
    assert frame["step"].is_monotonic_increasing
    assert frame[frame["step"] == 1]["replica"].tolist() == [0, 1, 2, 3, 20, 21]
    steps = step_frame(tasks)
    assert steps["step"].tolist() == [1, 2, 3]
    assert steps["examples"].tolist() == [24] * 3
    assert steps["loss"].iloc[0] == pytest.approx((0 + 1 + 10) / 3 + 0.05)


def test_an_epoch_combines_its_steps_and_its_event(task: TaskWriter) -> None:
    for first in (0, 5, 10, 15, 20):
        task.call(0, 0, first=first, count=5, start=100.0 + first)
    tests = {2: {"test_loss": 0.5, "test_accuracy": None}}
    frame = epoch_frame(read_tasks(task.dir.parent, SHAPE), tests)
    assert frame["epoch"].tolist() == [1, 2]
    assert frame["loss"].round(4).tolist() == [4.55, 14.55]
    assert frame["steps"].tolist() == [10, 10]
    assert frame["examples"].tolist() == [80, 80]
    assert frame["seconds"].tolist() == [1.0, 1.0]
    assert frame["test_loss"].isna().tolist() == [True, False]
    assert frame["test_accuracy"].isna().all()


def test_an_epoch_with_missing_records_has_the_number_of_its_records(task: TaskWriter) -> None:
    task.call(0, 0, first=0, count=5, start=100.0)
    frame = epoch_frame(read_tasks(task.dir.parent, SHAPE), {1: {}, 2: {"test_loss": 1.0}})
    assert frame["steps"].tolist() == [5, 0]
    assert frame["loss"].isna().tolist() == [False, True]
    assert frame["seconds"].isna().all()


def test_a_run_without_records_gives_empty_frames(tmp_path: Path) -> None:
    for tasks in ([], read_tasks(tmp_path, SHAPE)):
        assert len(replica_frame(tasks)) == len(step_frame(tasks)) == 0
        assert len(epoch_frame(tasks, {})) == 0
    TaskWriter(tmp_path / "worker-0")
    assert len(step_frame(read_tasks(tmp_path, SHAPE))) == 0
    assert list(replica_frame(read_tasks(tmp_path, SHAPE), ["loss"])) == ["loss"]


def test_synchronous_workers_share_steps_with_the_time_of_the_slowest(tmp_path: Path) -> None:
    for number, seconds in ((0, 0.5), (1, 2.0)):
        writer = TaskWriter(tmp_path / f"worker-{number}")
        for first in (0, 5, 10):
            writer.add_steps(0, 0, writer.rows(first, 5, marker=number))
            writer.add_calls(0, 0, [first, 5, 100.0 + first, seconds])
    tasks = read_tasks(tmp_path, SHAPE)
    steps = step_frame(tasks)
    assert steps["step"].tolist() == list(range(1, 16))
    assert (steps["examples"] == 16).all()
    assert steps["loss"].iloc[0] == pytest.approx(0.55)
    assert (steps["call_seconds"] == 2.0).all()
    assert (steps["examples_per_second"] == 40 / 0.5 + 40 / 2.0).all()
    epochs = epoch_frame(tasks, {})
    assert epochs[["epoch", "steps", "examples", "seconds"]].to_numpy().tolist() == [
        [1, 10, 160, 4.0]
    ]
    assert epochs["loss"].iloc[0] == pytest.approx(5.05)


def test_steps_that_one_of_several_workers_did_not_record_are_missing(tmp_path: Path) -> None:
    writers = [TaskWriter(tmp_path / f"worker-{number}") for number in range(2)]
    writers[0].call(0, 0, first=0, count=12, start=100.0)
    writers[1].call(0, 0, first=0, count=4, start=100.0)
    writers[1].call(1, 6, first=6, count=3, start=101.0)
    tasks = read_tasks(tmp_path, SHAPE)
    assert step_frame(tasks)["step"].tolist() == [1, 2, 3, 4, 7, 8, 9]
    assert missing_ranges(tasks, 12) == [(4, 5), (9, 11)]
    assert len(replica_frame(tasks)) == 2 * (12 + 7)


def led_workers(folder: Path) -> None:
    """Write two epochs of 10 steps: 7 and 5 steps of worker 0, 3 and 5 of worker 1."""
    for number, calls in ((0, (7, 5)), (1, (3, 5))):
        writer = TaskWriter(folder / f"worker-{number}", replicas=1)
        first = 0
        for count in calls:
            writer.call(0, 0, first, count, start=100.0 + first, marker=100 * number)
            first += count


def test_under_a_chief_each_worker_has_its_own_steps_and_its_own_epochs(tmp_path: Path) -> None:
    led_workers(tmp_path)
    tasks = read_tasks(tmp_path, LED, {"worker-0": [7, 12], "worker-1": [3, 8]})
    steps = step_frame(tasks)
    assert steps[steps["worker"] == 0]["step"].tolist() == list(range(1, 13))
    assert steps[steps["worker"] == 1]["step"].tolist() == list(range(1, 9))
    assert steps[steps["worker"] == 0]["epoch"].tolist() == [1] * 7 + [2] * 5
    assert steps[steps["worker"] == 1]["epoch"].tolist() == [1] * 3 + [2] * 5
    assert steps["loss"].iloc[:4].tolist() == [0.0, 100.0, 1.0, 101.0]
    replicas = replica_frame(tasks, ["worker", "replica", "epoch"])
    assert replicas["replica"].tolist() == replicas["worker"].tolist()
    epochs = epoch_frame(tasks, {1: {"test_loss": 0.5}, 2: {"test_loss": 0.25}})
    assert epochs["steps"].tolist() == [10, 10]
    assert epochs["examples"].tolist() == [40, 40]
    assert epochs["loss"].tolist() == pytest.approx([(21 + 303) / 10, (45 + 525) / 10])
    assert epochs["test_loss"].tolist() == [0.5, 0.25]
    assert epochs["seconds"].tolist() == [0.5, 0.5]


def test_under_a_chief_an_epoch_appears_with_its_event(tmp_path: Path) -> None:
    led_workers(tmp_path)
    tasks = read_tasks(tmp_path, LED, {"worker-0": [7], "worker-1": [3]})
    assert epoch_frame(tasks, {})["epoch"].tolist() == []
    assert epoch_frame(tasks, {1: {}})["steps"].tolist() == [10]
    assert step_frame(tasks)["epoch"].max() == 2


def test_under_a_chief_the_gaps_of_each_worker_are_missing(tmp_path: Path) -> None:
    led_workers(tmp_path)
    writer = TaskWriter(tmp_path / "worker-1", replicas=1)
    writer.call(1, 11, first=11, count=2, start=300.0)
    TaskWriter(tmp_path / "worker-2", replicas=1)
    assert missing_ranges(read_tasks(tmp_path, LED), 30) == [(8, 10)]


def test_records_in_double_precision_are_read_as_such(task: TaskWriter) -> None:
    third = 1 / 3
    rows = np.array([[[4 * third, 1, 4], [4, 1, 4]]] * 3, np.float64)
    task.add_steps(0, 0, rows)
    task.add_calls(0, 0, [0, 3, 100.0, 0.5])
    tasks = read_tasks(task.dir.parent, SHAPE)
    assert tasks[0].values.dtype == np.float64
    assert replica_frame(tasks)["loss"].iloc[0] == third
    assert step_frame(tasks)["step"].tolist() == [1, 2, 3]
    task.add_steps(1, 1, rows[:1] * 2)
    task.add_calls(1, 1, [1, 1, 101.0, 0.5])
    assert step_frame(read_tasks(task.dir.parent, SHAPE))["step"].tolist() == [1, 2]


def test_the_beginning_of_a_worker_that_resumed_already_replaces_later_steps(
    tmp_path: Path,
) -> None:
    led_workers(tmp_path)
    TaskWriter(tmp_path / "worker-0", replicas=1).begin(1, 9)
    tasks = read_tasks(tmp_path, LED, {"worker-0": [7], "worker-1": [3]})
    assert [len(task.steps) for task in tasks] == [9, 8]
    assert missing_ranges(tasks, 20) == []
