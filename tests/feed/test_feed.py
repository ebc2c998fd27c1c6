"""What goes to a page: the whole first, then only what changed; the exact steps of a part."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.widgets.folders import BATCH, CONFIG, records, write_epoch, write_run, write_steps
from workbench import RunConfig
from workbench.feed import Message, RunFeed, RunSnapshot, nothing
from workbench.feed.account import offered
from workbench.runs import Run, RunError
from workbench.runs.records.curves import MOST_POINTS
from workbench.runs.records.live import Window

ALIVE = ("queued", "starting", "running")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return write_run(tmp_path, steps=20)


@pytest.fixture
def feed(run: Run) -> RunFeed:
    return RunFeed(run)


def look(feed: RunFeed) -> RunSnapshot:
    return RunSnapshot.at(feed.run, feed.plan)


def add_steps(run: Run, first: int, rows: np.ndarray) -> None:
    stem = run.dir / "worker-0" / "0000-000000000000"
    with stem.with_suffix(".calls").open("ab") as file:
        file.write(np.array([first, len(rows), 1000.0, 1.0]).astype("<f8").tobytes())
    with stem.with_suffix(".steps").open("ab") as file:
        file.write(rows.astype("<f4").tobytes())


def unpack(message: Message) -> tuple[np.ndarray, np.ndarray]:
    """Return [3, points] and [curve, line, points]."""
    across, values = message.buffers
    count = len(across) // 24
    lines = len(values) // 12 // count
    return (
        np.frombuffer(across, "<f8").reshape(3, count),
        np.frombuffer(values, "<f4").reshape(3, lines, count),
    )


def news(feed: RunFeed, *, looking: bool = False) -> Message:
    message = feed.news(look(feed) if looking else None)
    assert message is not None
    return message


def test_first_all_of_it_then_what_is_new(feed: RunFeed, run: Run) -> None:
    first = news(feed, looking=True)
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


def test_where_nothing_is_new_nothing_is_told(feed: RunFeed) -> None:
    news(feed, looking=True)
    assert feed.news(None) is None


def test_only_parts_that_changed_are_told_again(feed: RunFeed, run: Run) -> None:
    assert set(news(feed, looking=True).content["parts"]) >= {"head", "lanes", "logs", "epochs"}
    (run.dir / "worker-0" / "log.txt").write_text("another line\n")
    message = news(feed, looking=True)
    assert message.content["parts"]["logs"] == {"worker-0": "another line"}
    assert "head" not in message.content["parts"]
    assert "points" not in message.content
    write_epoch(run.dir, 1, 10)
    assert set(news(feed).content["parts"]) == {"epochs"}


def test_the_whole_is_told_on_request_and_counts_on(feed: RunFeed) -> None:
    sent = news(feed, looking=True)
    whole = feed.whole()
    assert whole.content["whole"]
    assert whole.content["sequence"] == sent.content["sequence"]
    assert whole.content["parts"] == sent.content["parts"]
    assert whole.buffers == sent.buffers


def test_two_feeds_of_one_run_tell_the_same_under_other_names(feed: RunFeed, run: Run) -> None:
    one, two = news(feed, looking=True), news(RunFeed(run), looking=True)
    assert one.buffers == two.buffers
    assert one.content["feed"] != two.content["feed"]


def test_a_block_is_as_large_as_what_is_new_however_long_the_run(tmp_path: Path) -> None:
    sizes = []
    for steps in (1_000, 1_000_000):
        run = write_run(tmp_path / str(steps), steps=0)
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


def test_a_resume_amid_a_point_leaves_the_steps_before_it(tmp_path: Path) -> None:
    run = write_run(tmp_path, steps=20, config=replace(CONFIG, epochs=300))
    feed = RunFeed(run)
    add_steps(run, 20, records(10 * MOST_POINTS))
    width = news(feed).content["points"]["stepsAPoint"]
    again = 100 * width + 3
    write_steps(run.dir / "worker-0", 1, again, records(1, loss=9.0))
    message = news(feed)
    across, values = unpack(message)
    assert across[0][-1] == again + 1
    assert across[1][-1] == 2 * BATCH * (again + 1)
    np.testing.assert_allclose(values[0, 0, -1], (3 * 1.0 + 9.0) / 4)


def test_a_part_is_told_step_by_step_where_it_fits(run: Run, feed: RunFeed) -> None:
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


def test_a_part_that_does_not_fit_is_thinned_to_the_columns(run: Run, feed: RunFeed) -> None:
    add_steps(run, 20, records(10 * MOST_POINTS))
    news(feed)
    message = feed.closer("a-1", Window(2_000, 5_999, 500))
    assert message.content["points"]["stepsAPoint"] == 8
    assert 400 < unpack(message)[0].shape[1] <= 500


def test_a_loss_that_is_no_number_is_marked_and_others_stay(run: Run, feed: RunFeed) -> None:
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


def test_times_that_go_back_leave_the_time_axis_rising(run: Run, feed: RunFeed) -> None:
    stem = run.dir / "worker-0" / "0000-000000000000"
    add_steps(run, 20, records(5))
    calls = np.fromfile(stem.with_suffix(".calls"), "<f8").reshape(-1, 4)
    calls[-1, 2] -= 86_400
    calls.tofile(stem.with_suffix(".calls"))
    across, _ = unpack(news(feed))
    assert (np.diff(across[2]) > 0).all()


def test_a_run_that_is_gone_ends_with_the_reason_for_new_pages_too(feed: RunFeed) -> None:
    news(feed, looking=True)
    shutil.rmtree(feed.run.dir)
    with pytest.raises(RunError):
        look(feed)
    assert feed.end("gone for good").content["parts"] == {"gone": "gone for good"}
    assert feed.whole().content["parts"]["gone"] == "gone for good"


def test_where_no_run_is_open_the_page_is_told_so() -> None:
    assert nothing().content["whole"]
    assert nothing().content["parts"] == {}


@pytest.mark.parametrize(
    ("status", "actions"),
    [
        *((status, ["stop"]) for status in ALIVE),
        ("stopping", []),
        ("finished", ["train_on", "delete"]),
        *((status, ["resume", "delete"]) for status in ("stopped", "failed", "lost")),
    ],
)
def test_what_can_be_done_depends_on_the_state(status: str, actions: list[str]) -> None:
    assert offered(status) == actions


def test_a_failure_is_told_whole(tmp_path: Path) -> None:
    values: dict[str, Any] = {"cause": "No memory.", "task": "worker-0", "log": "x", "fix": "Less."}
    run = write_run(tmp_path, "failed", 3, **values)
    parts = news(RunFeed(run), looking=True).content["parts"]
    assert parts["failure"]["cause"] == "No memory."
    assert parts["failure"]["fix"] == "Less."
    assert parts["head"]["alive"] is False


@pytest.mark.parametrize("strategy", ["multi_worker_mirrored", "parameter_server"])
def test_several_tasks_have_a_lane_each_and_lines_that_name_them(
    tmp_path: Path, strategy: str
) -> None:
    run = write_run(tmp_path, steps=0, config=RunConfig(strategy=strategy))
    for worker in ("worker-0", "worker-1"):
        (run.dir / worker).mkdir(exist_ok=True)
        write_steps(run.dir / worker, 0, 0, records(10)[:, :1])
    feed = RunFeed(run)
    message = news(feed, looking=True)
    lanes = {lane["task"]: lane for lane in message.content["parts"]["lanes"]}
    assert tuple(lanes) == feed.plan.tasks
    assert [lanes[name]["step"] for name in ("worker-0", "worker-1")] == [10, 10]
    assert all(lane["tfConfig"] == "" for lane in lanes.values())
    header = message.content["points"]
    together = strategy == "multi_worker_mirrored"
    assert (header["replicas"], header["workers"], header["together"]) == (2, 2, together)
    joined = unpack(message)[1][0, 2]
    assert np.isfinite(joined).all() == together


def test_copies_in_an_archive_have_a_lane_and_a_log(feed: RunFeed, run: Run) -> None:
    def tell(name: str, **values: Any) -> tuple[dict[str, Any], str]:
        with (run.dir / "archive.jsonl").open("a") as file:
            event = {"time": 0.0, "event": name, "folder": "/drive/it", **values}
            file.write(json.dumps(event) + "\n")
        parts = news(feed, looking=True).content["parts"]
        lane = next(lane for lane in parts["lanes"] if lane["task"] == "archive")
        return lane, parts["logs"]["archive"].splitlines()[-1][9:]

    lane, line = tell("archived", step=20, whole=False)
    assert (lane["state"], lane["step"]) == ("copied", 20)
    assert line == "copied to /drive/it, goes on from step 20"
    lane, line = tell("unarchived", cause="/drive: not mounted", fix="Mount it.")
    assert (lane["state"], lane["step"]) == ("failing", 20)
    assert line == "not copied: /drive: not mounted. Mount it."
