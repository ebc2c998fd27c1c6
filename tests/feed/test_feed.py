"""Tests of the messages to a page: first the complete run, then only changes."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.widgets.folders import BATCH, CONFIG, records, write_epoch, write_run, write_steps
from workbench import RunConfig
from workbench.feed import Message, RunFeed, nothing, parts_of
from workbench.runs import Run, RunError
from workbench.runs.folder.state import take_lock
from workbench.runs.records.curves import MOST_POINTS
from workbench.runs.records.live import Window


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return write_run(tmp_path, steps=20)


@pytest.fixture
def feed(run: Run) -> RunFeed:
    return RunFeed(run)


def read(feed: RunFeed) -> dict[str, Any]:
    return parts_of(feed.run, feed.run.summary)


def add_steps(run: Run, first: int, rows: np.ndarray) -> None:
    write_steps(run.dir / "worker-0", first, rows, begins=False, start=1000.0)


def unpack(message: Message) -> tuple[np.ndarray, np.ndarray]:
    """Return the x values as [axis, points], and the curves as [curve, line, points]."""
    across, values = message.buffers
    count = len(across) // 24
    lines = len(values) // 12 // count
    return (
        np.frombuffer(across, "<f8").reshape(3, count),
        np.frombuffer(values, "<f4").reshape(3, lines, count),
    )


def news(feed: RunFeed, *, with_parts: bool = False) -> Message:
    message = feed.news(read(feed) if with_parts else None)
    assert message is not None
    return message


def test_the_first_message_has_all_points_and_the_next_only_new_points(
    feed: RunFeed, run: Run
) -> None:
    first = news(feed, with_parts=True)
    assert first.content["whole"]
    across, values = unpack(first)
    np.testing.assert_array_equal(across[0], np.arange(1, 21))
    np.testing.assert_array_equal(across[1], 2 * BATCH * np.arange(1, 21))
    np.testing.assert_allclose(across[2], np.arange(1, 21) / 20)
    np.testing.assert_allclose(values[0, :, 0], [1.0, 2.0, 1.5])
    add_steps(run, 20, records(3, loss=4.0))
    second = news(feed)
    assert not second.content["whole"]
    assert second.content["sequence"] == first.content["sequence"] + 1
    assert second.content["points"]["from"] == 20
    across, values = unpack(second)
    np.testing.assert_array_equal(across[0], [21, 22, 23])
    np.testing.assert_allclose(values[0, 0], 4.0)


def test_an_unchanged_run_makes_no_message(feed: RunFeed) -> None:
    news(feed, with_parts=True)
    assert feed.news(None) is None


def test_a_later_message_has_only_the_parts_that_changed(feed: RunFeed, run: Run) -> None:
    assert set(news(feed, with_parts=True).content["parts"]) >= {
        "head",
        "lanes",
        "logs",
        "epochs",
    }
    (run.dir / "worker-0" / "log.txt").write_text("another line\n")
    message = news(feed, with_parts=True)
    assert message.content["parts"]["logs"] == {"worker-0": "another line"}
    assert "head" not in message.content["parts"]
    assert "points" not in message.content
    write_epoch(run.dir, 1, 10)
    assert set(news(feed).content["parts"]) == {"epochs"}


def test_the_complete_run_is_repeated_with_the_same_sequence_number(feed: RunFeed) -> None:
    sent = news(feed, with_parts=True)
    whole = feed.whole()
    assert whole.content["whole"]
    assert whole.content["sequence"] == sent.content["sequence"]
    assert whole.content["parts"] == sent.content["parts"]
    assert whole.buffers == sent.buffers


def test_two_feeds_of_one_run_have_equal_points_and_different_names(
    feed: RunFeed, run: Run
) -> None:
    one, two = news(feed, with_parts=True), news(RunFeed(run), with_parts=True)
    assert one.buffers == two.buffers
    assert one.content["feed"] != two.content["feed"]


def test_the_size_of_a_message_does_not_depend_on_the_length_of_the_run(tmp_path: Path) -> None:
    sizes = []
    for steps in (1_000, 1_000_000):
        run = write_run(tmp_path / str(steps), steps=0, config=replace(CONFIG, epochs=300))
        add_steps(run, 0, np.ones((steps, 2, 3), np.float32))
        feed = RunFeed(run)
        news(feed)
        add_steps(run, steps, np.ones((10, 2, 3), np.float32))
        sizes.append(news(feed).bytes)
    assert sizes[1] <= sizes[0]


def test_long_runs_are_thinned_without_losing_a_peak(run: Run, feed: RunFeed) -> None:
    rows = records(10 * MOST_POINTS)
    rows[7_777, 0, 0] = 1_000 * BATCH
    add_steps(run, 20, rows)
    message = news(feed)
    header = message.content["points"]
    across, values = unpack(message)
    assert header["spans"]
    assert across.shape[1] <= MOST_POINTS
    low, high = values[0, 3], values[0, 5]
    at = (20 + 7_777) // header["stepsAPoint"]
    assert (low[at], high[at]) == (1.0, 1_000.0)
    assert high.argmax() == at


def test_a_resume_within_a_point_keeps_the_steps_before_it(tmp_path: Path) -> None:
    run = write_run(tmp_path, steps=20, config=replace(CONFIG, epochs=300))
    feed = RunFeed(run)
    add_steps(run, 20, records(10 * MOST_POINTS))
    width = news(feed).content["points"]["stepsAPoint"]
    again = 100 * width + 3
    write_steps(run.dir / "worker-0", again, records(1, loss=9.0))
    message = news(feed)
    across, values = unpack(message)
    assert across[0][-1] == again + 1
    assert across[1][-1] == 2 * BATCH * (again + 1)
    np.testing.assert_allclose(values[0, 0, -1], (3 * 1.0 + 9.0) / 4)


def test_a_small_window_has_a_point_for_each_step(run: Run, feed: RunFeed) -> None:
    rows = records(10 * MOST_POINTS)
    rows[:, 0, 0] = BATCH * np.arange(len(rows))
    add_steps(run, 20, rows)
    news(feed)
    message = feed.closer("a-1", Window(5_000, 5_099, 600))
    assert message.content["request"] == "a-1"
    assert message.content["points"]["stepsAPoint"] == 1
    across, values = unpack(message)
    assert across[0][0] <= 5_001
    assert across[0][-1] >= 5_100
    np.testing.assert_array_equal(values[0, 0], across[0] - 21)
    np.testing.assert_array_equal(across[1], 2 * BATCH * across[0])


def test_a_large_window_has_at_most_one_point_for_each_column(run: Run, feed: RunFeed) -> None:
    add_steps(run, 20, records(10 * MOST_POINTS))
    news(feed)
    message = feed.closer("a-1", Window(2_000, 5_999, 500))
    assert message.content["points"]["stepsAPoint"] == 8
    assert 400 < unpack(message)[0].shape[1] <= 500


def test_a_loss_that_is_not_finite_is_marked_and_other_losses_stay(run: Run, feed: RunFeed) -> None:
    rows = records(3)
    rows[1, 0, 0] = np.nan
    rows[2, 1, 0] = np.inf
    add_steps(run, 20, rows)
    _, values = unpack(news(feed))
    np.testing.assert_array_equal(values[0, :2, 20:], [[1, np.inf, 1], [2, 2, np.inf]])


def test_a_run_of_one_step_is_one_point(tmp_path: Path) -> None:
    across, values = unpack(news(RunFeed(write_run(tmp_path, steps=1))))
    np.testing.assert_array_equal(across[0], [1])
    assert np.isfinite(values).all()


def test_the_time_axis_rises_when_the_clock_goes_back(run: Run, feed: RunFeed) -> None:
    add_steps(run, 20, records(5))
    log = np.fromfile(run.dir / "worker-0" / "calls.f8", "<f8").reshape(-1, 4)
    log[-1, 2] -= 86_400
    log.tofile(run.dir / "worker-0" / "calls.f8")
    across, _ = unpack(news(feed))
    assert (np.diff(across[2]) > 0).all()


def test_all_pages_of_a_deleted_run_receive_the_reason(feed: RunFeed) -> None:
    news(feed, with_parts=True)
    shutil.rmtree(feed.run.dir)
    with pytest.raises(RunError):
        read(feed)
    assert feed.end("gone for good").content["parts"] == {"gone": "gone for good"}
    assert feed.whole().content["parts"]["gone"] == "gone for good"


def test_a_page_without_an_open_run_has_no_parts() -> None:
    assert nothing().content["whole"]
    assert nothing().content["parts"] == {}


def test_a_failed_run_has_the_cause_and_the_fix(tmp_path: Path) -> None:
    values: dict[str, Any] = {"cause": "No memory.", "task": "worker-0", "log": "x", "fix": "Less."}
    run = write_run(tmp_path, "failed", 3, **values)
    parts = news(RunFeed(run), with_parts=True).content["parts"]
    assert parts["failure"]["cause"] == "No memory."
    assert parts["failure"]["fix"] == "Less."
    assert parts["head"]["alive"] is False


def test_the_progress_of_a_run_that_starts_has_its_stage(tmp_path: Path) -> None:
    run = write_run(tmp_path, "starting", steps=0)
    feed, lock = RunFeed(run), take_lock(run.dir)
    assert lock is not None
    try:
        parts = news(feed, with_parts=True).content["parts"]
        assert parts["progress"]["stage"] == "Starting the processes"
    finally:
        os.close(lock)
    assert news(feed, with_parts=True).content["parts"]["progress"]["stage"] == ""


@pytest.mark.parametrize("strategy", ["multi_worker_mirrored", "parameter_server"])
def test_each_task_has_a_lane_and_only_synchronous_workers_have_a_joined_line(
    tmp_path: Path, strategy: str
) -> None:
    run = write_run(tmp_path, steps=0, config=RunConfig(strategy=strategy))
    for worker in ("worker-0", "worker-1"):
        (run.dir / worker).mkdir(exist_ok=True)
        write_steps(run.dir / worker, 0, records(10)[:, :1])
    feed = RunFeed(run)
    message = news(feed, with_parts=True)
    lanes = {lane["task"]: lane for lane in message.content["parts"]["lanes"]}
    assert tuple(lanes) == feed.plan.tasks
    assert [lanes[name]["step"] for name in ("worker-0", "worker-1")] == [10, 10]
    assert all(lane["tfConfig"] == "" for lane in lanes.values())
    header = message.content["points"]
    synchronous = strategy == "multi_worker_mirrored"
    assert (header["replicas"], header["workers"], header["synchronous"]) == (2, 2, synchronous)
    joined = unpack(message)[1][0, 2]
    assert np.isfinite(joined).all() == synchronous


def test_copies_in_an_archive_have_a_lane_and_a_log(feed: RunFeed, run: Run) -> None:
    def copy_event(name: str, **values: Any) -> tuple[dict[str, Any], str]:
        with (run.dir / "archive.jsonl").open("a") as file:
            event = {"time": 0.0, "event": name, "folder": "/drive/it", **values}
            file.write(json.dumps(event) + "\n")
        parts = news(feed, with_parts=True).content["parts"]
        lane = next(lane for lane in parts["lanes"] if lane["task"] == "archive")
        return lane, parts["logs"]["archive"].splitlines()[-1][9:]

    lane, line = copy_event("archived", step=20, whole=False)
    assert (lane["state"], lane["step"]) == ("copied", 20)
    assert line == "copied to /drive/it, continues from step 20"
    lane, line = copy_event("unarchived", cause="/drive: not mounted", fix="Mount it.")
    assert (lane["state"], lane["step"]) == ("failing", 20)
    assert line == "not copied: /drive: not mounted. Mount it."
