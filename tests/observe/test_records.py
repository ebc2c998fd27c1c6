"""The numbers that steps report beside loss and accuracy, as they are written and read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from workbench.observe.folder.records import Call, Kind, Records
from workbench.runs.records.arrays import Shape, read_tasks
from workbench.runs.records.frames import epoch_frame, replica_frame, step_frame

SHAPE = Shape(replicas=2, steps_per_epoch=10)
NAN = float("nan")
NAN_ = pytest.approx(NAN, nan_ok=True)


@pytest.fixture
def records(tmp_path: Path) -> Records:
    return attempt(tmp_path)


def attempt(run_dir: Path, step: int = 0) -> Records:
    """Return the records of a worker whose attempt begins at a step."""
    records = Records(run_dir / "worker-0")
    records.folder.mkdir(exist_ok=True)
    records.begin(step)
    return records


def add(records: Records, step: int, count: int = 2, **scalars: float) -> None:
    """Record steps; each number of replica 0 is the given one plus the step, of replica 1 twice."""
    steps = step + np.arange(count)[:, None]
    first = np.broadcast_to(np.array([8.0, 1.0, 4.0]), (count, 2, 3))
    others = [(value + steps) * [1, 2] for value in scalars.values()]
    rows = np.dstack([first, *others]).astype(np.float32)
    records.add(Call(step, Kind(trains=True, scalars=tuple(scalars)), rows, 100.0 + step, 0.5))
    records.flush()


def column(run_dir: Path, name: str, replica: int = 0) -> list[float]:
    frame = replica_frame(read_tasks(run_dir, SHAPE))
    return frame.loc[frame["replica"] == replica, name].tolist()


def test_each_has_a_column_by_its_name(records: Records, tmp_path: Path) -> None:
    add(records, 0, mae=1.0, psnr=30.0)
    add(records, 2, mae=1.0, psnr=30.0)
    tasks = read_tasks(tmp_path, SHAPE)
    assert list(replica_frame(tasks))[-2:] == ["mae", "psnr"]
    assert column(tmp_path, "mae", replica=1) == [2, 4, 6, 8]
    assert replica_frame(tasks, ["psnr"])["psnr"].tolist() == [30, 60, 31, 62, 32, 64, 33, 66]
    assert step_frame(tasks, ["mae", "loss"])["mae"].tolist() == [1.5, 3.0, 4.5, 6.0]


def test_it_is_unknown_in_steps_that_do_not_report_it(records: Records, tmp_path: Path) -> None:
    add(records, 0)
    add(records, 2, mae=1.0)
    add(records, 4)
    add(records, 6, mae=1.0)
    add(records, 8)
    expected = [NAN, NAN, 3, 4, NAN, NAN, 7, 8, NAN, NAN]
    assert column(tmp_path, "mae") == pytest.approx(expected, nan_ok=True)
    means = step_frame(read_tasks(tmp_path, SHAPE))["mae"]
    assert means.tolist() == pytest.approx([1.5 * each for each in expected], nan_ok=True)


def test_a_resume_forgets_those_of_the_steps_that_it_does_again(
    records: Records, tmp_path: Path
) -> None:
    add(records, 0, 6, mae=1.0)
    again = attempt(tmp_path, step=3)
    add(again, 3)
    add(again, 5, 1, mae=5.0)
    expected = [1, 2, 3, NAN, NAN, 10]
    assert column(tmp_path, "mae") == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("name", ["a/b", "..", "loss %", "größe", "examples", "time", "worker"])
def test_any_name_can_be_reported(name: str, records: Records, tmp_path: Path) -> None:
    add(records, 0, **{name: 1.0})
    (written,) = records.folder.glob("scalar-*")
    assert written.parent == records.folder
    frame = replica_frame(read_tasks(tmp_path, SHAPE))
    shown = list(frame)[-1]
    assert shown == (f"{name}_" if name in ("examples", "time", "worker") else name)
    assert frame[shown].tolist() == [1, 2, 2, 4]
    assert step_frame(read_tasks(tmp_path, SHAPE), [shown])[shown].tolist() == [1.5, 3.0]


def test_two_names_never_share_a_column(records: Records, tmp_path: Path) -> None:
    add(records, 0, time=1.0, time_=2.0)
    assert set(replica_frame(read_tasks(tmp_path, SHAPE)).columns[-2:]) == {"time_", "time__"}


def test_a_long_name_is_cut(records: Records, tmp_path: Path) -> None:
    add(records, 0, **{"x" * 1000: 1.0})
    assert list(replica_frame(read_tasks(tmp_path, SHAPE)))[-1] == "x" * 200


def test_an_epoch_has_the_mean_over_the_examples_for_which_it_is_known(
    records: Records, tmp_path: Path
) -> None:
    add(records, 0, 10, mae=1.0)
    add(records, 10, 5)
    add(records, 15, 5, mae=1.0)
    epochs = epoch_frame(read_tasks(tmp_path, SHAPE), {})
    means = np.mean([1 + np.arange(10), 2 * (1 + np.arange(10))])
    assert epochs["mae"].tolist() == [means, 1.5 * np.mean(np.arange(16, 21))]
    reported = {1: {"metrics": {"mae": 5.0}}}
    assert epoch_frame(read_tasks(tmp_path, SHAPE), reported)["mae"].iloc[0] == 5.0


def test_an_attempt_in_the_same_process_forgets_them_too(records: Records, tmp_path: Path) -> None:
    add(records, 0, 6, mae=1.0)
    records.begin(2)
    add(records, 2)
    add(records, 4, 1, mae=5.0)
    expected = [1, 2, NAN, NAN, 9]
    assert column(tmp_path, "mae") == pytest.approx(expected, nan_ok=True)


def test_a_number_that_is_none_in_one_replica_is_none_over_all(
    records: Records, tmp_path: Path
) -> None:
    rows = np.array([[[8, 1, 4, 2], [8, 1, 4, NAN]], [[8, 1, 4, 2], [0, 0, 0, NAN]]], np.float32)
    records.add(Call(0, Kind(trains=True, scalars=("kl",)), rows, 100.0, 0.5))
    records.flush()
    means = step_frame(read_tasks(tmp_path, SHAPE))["kl"].tolist()
    assert means == [NAN_, 2.0]  # the second replica had no examples


def test_files_that_it_did_not_write_are_left_alone(records: Records, tmp_path: Path) -> None:
    other = records.folder / "scalar-mine.f4~"
    other.write_text("mine")
    add(records, 0, mae=1.0)
    assert other.read_text() == "mine"
    assert column(tmp_path, "mae") == [1, 2]


def test_loss_and_calls_are_recorded_even_if_another_number_cannot_be(
    records: Records, tmp_path: Path
) -> None:
    (records.folder / "scalar-mae.f4").mkdir()
    rows = np.ones([3, 2, 4], np.float32)
    records.add(Call(0, Kind(trains=True, scalars=("mae",)), rows, 100.0, 0.5))
    lost = records.flush()
    assert lost is not None
    assert (lost.first_step, lost.steps) == (0, 3)
    assert "scalar-mae.f4" in lost.error
    assert np.fromfile(records.folder / "calls.f8").reshape(-1, 4)[1:, :2].tolist() == [[0, 3]]


def test_workers_of_which_one_has_not_reported_a_number_share_a_table(tmp_path: Path) -> None:
    for worker, scalars in ((0, {"mae": 1.0}), (1, {})):
        records = Records(tmp_path / f"worker-{worker}")
        records.folder.mkdir()
        add(records, 0, **scalars)
    frame = step_frame(read_tasks(tmp_path, replace(SHAPE, synchronous=False)))
    means = frame.set_index(["worker", "step"])["mae"]
    assert means.to_dict() == {(0, 1): 1.5, (0, 2): 3.0, (1, 1): NAN_, (1, 2): NAN_}


def test_calls_that_come_at_once_are_written_together(records: Records) -> None:
    rows = np.ones([1, 2, 3], np.float32)
    for step in range(200):
        assert records.add(Call(step, Kind(True, ()), rows, 100.0 + step, 0.5)) is None
    assert len(records.waiting) > 0
    assert records.flush() is None
    log = np.fromfile(records.folder / "calls.f8").reshape(-1, 4)[1:]
    assert log[:, 0].tolist() == list(range(200))
    assert (records.folder / "steps.f4").stat().st_size == 200 * rows.nbytes


def test_workers_share_the_means_of_their_steps(records: Records, tmp_path: Path) -> None:
    add(records, 0, mae=1.0)
    second = Records(tmp_path / "worker-1")
    second.folder.mkdir()
    add(second, 0, mae=5.0)
    tasks = read_tasks(tmp_path, SHAPE)
    assert step_frame(tasks)["mae"].tolist() == [(1 + 2 + 5 + 10) / 4, (2 + 4 + 6 + 12) / 4]
