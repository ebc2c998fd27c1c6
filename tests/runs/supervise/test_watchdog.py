"""The phase and the silence of a task, found in its files. The tests pass the time."""

import json
from pathlib import Path

import pytest

from tests.disks import Disk, disk
from tests.runs.records.recording import TaskWriter
from workbench.runs.processes.bounds import Bounds
from workbench.runs.supervise.watchdog import ENTERED, Watchdog, recent_calls

__all__ = ["disk"]

BOUNDS = Bounds(stall_floor_seconds=15.0, stall_factor=10.0)


class Task:
    """A task whose files a test writes."""

    def __init__(self, task_dir: Path, call_seconds: float = 0.5) -> None:
        self.writer = TaskWriter(task_dir)
        self.call_seconds = call_seconds
        self.step = 0

    def event(self, name: str, **values: object) -> None:
        with (self.writer.dir / "events.jsonl").open("a") as file:
            file.write(json.dumps({"time": 0.0, "event": name, **values}) + "\n")

    def call(self) -> None:
        self.writer.add_calls(0, 0, [self.step, 1, 0.0, self.call_seconds])
        self.step += 1


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return Task(tmp_path / "worker-0")


def change(watchdog: Watchdog, now: float, leader: Watchdog | None = None) -> str | None:
    """Call `poll`; return whether the task has just stalled or recovered."""
    before = watchdog.silent
    watchdog.poll(now, leader)
    if watchdog.silent == before:
        return None
    return "stalled" if watchdog.silent else "recovered"


def watch(task: Task, total_steps: int = 100) -> Watchdog:
    return Watchdog(task.writer.dir, BOUNDS, total_steps)


def test_phases_follow_what_the_task_writes(task: Task) -> None:
    watchdog = watch(task, total_steps=3)
    phases = []
    for action in (
        lambda: None,
        lambda: task.event("start", step=0),
        lambda: task.event("tracing"),
        lambda: task.event("traced", seconds=1.5),
        task.call,
        lambda: task.event("saving", step=1),
        lambda: task.event("checkpoint", step=1),
        lambda: task.event("test", epoch=1),
        lambda: task.event("epoch", step=1),
        task.call,
        lambda: task.event("epoch", step=3),
    ):
        action()
        watchdog.poll(1.0)
        phases.append(watchdog.phase)
    assert phases == [
        "starting",
        "tracing",
        "tracing",
        "training",
        "training",
        "saving",
        "training",
        "testing",
        "training",
        "training",
        "saving",
    ]


def test_a_start_and_a_first_call_read_together_are_training(task: Task) -> None:
    watchdog = watch(task)
    task.event("start", step=0)
    task.call()
    watchdog.poll(1.0)
    assert (watchdog.phase, watchdog.recorded) == ("training", True)


def test_it_alarms_once_and_recovers(task: Task) -> None:
    watchdog = watch(task)
    task.event("start", step=0)
    task.call()
    assert change(watchdog, 1.0) is None
    assert change(watchdog, 15.9) is None
    assert change(watchdog, 16.1) == "stalled"
    assert watchdog.silent_seconds == pytest.approx(15.1)
    assert change(watchdog, 30.0) is None
    task.call()
    assert change(watchdog, 31.0) == "recovered"
    assert change(watchdog, 46.5) == "stalled"


def test_slow_calls_may_take_ten_times_their_median(tmp_path: Path) -> None:
    task = Task(tmp_path / "worker-0", call_seconds=4.0)
    watchdog = watch(task)
    task.event("start", step=0)
    task.call()
    watchdog.poll(0.0)
    assert change(watchdog, 39.0) is None
    assert change(watchdog, 41.0) == "stalled"
    assert watchdog.limit_seconds == 40.0


@pytest.mark.parametrize("event", [None, "start", "test", "saving"])
def test_it_never_alarms_outside_training(task: Task, event: str | None) -> None:
    if event != "start":
        task.call()
    watchdog = watch(task)
    if event:
        task.event("start", step=0)
        task.event(event)
    if event not in (None, "start"):
        task.call()
        task.event(event)
    watchdog.poll(1.0)
    assert change(watchdog, 10_000.0) is None


def test_silence_does_not_count_on_a_full_disk(disk: Disk) -> None:
    task = Task(disk.at / "worker-0")
    watchdog = watch(task)
    task.event("start", step=0)
    task.call()
    assert change(watchdog, 1.0) is None
    disk.leave(0)
    assert change(watchdog, 10_000.0) is None
    disk.ballast.unlink()
    assert change(watchdog, 10_014.9) is None
    assert change(watchdog, 10_015.1) == "stalled"
    disk.leave(0)
    assert change(watchdog, 10_016.0) is None
    assert watchdog.silent


def test_a_first_call_may_take_any_time(task: Task) -> None:
    watchdog = watch(task)
    task.event("start", step=0)
    task.event("traced", seconds=1.5)
    assert change(watchdog, 1.0) is None
    assert (watchdog.phase, watchdog.recorded) == ("training", False)
    assert change(watchdog, 10_000.0) is None
    task.call()
    assert change(watchdog, 10_001.0) is None
    assert change(watchdog, 10_017.0) == "stalled"


def test_events_of_an_earlier_attempt_do_not_count(task: Task) -> None:
    task.event("start", step=0)
    task.call()
    task.event("finished", step=1)
    watchdog = watch(task)
    watchdog.poll(1.0)
    assert (watchdog.phase, watchdog.recorded, watchdog.events) == ("starting", False, [])


def test_only_complete_rows_of_the_newest_calls_are_read(tmp_path: Path) -> None:
    task = Task(tmp_path / "worker-0")
    for _ in range(150):
        task.call()
    path = tmp_path / "worker-0" / "calls.f8"
    path.write_bytes(path.read_bytes() + b"torn")
    calls = recent_calls(path)
    assert [call[0] for call in calls] == list(range(49, 150))
    assert recent_calls(tmp_path / "none") == []


def test_the_entered_step_is_the_last_noted_step(task: Task) -> None:
    watchdog, note = watch(task), task.writer.dir / ENTERED
    assert watchdog.entered_step() == -1
    being_written = ("", 20)
    for text, step in (("", -1), ("20", 20), being_written, ("2x", 20), ("30", 30)):
        note.write_text(text)
        assert watchdog.entered_step() == step


@pytest.fixture
def chief(tmp_path: Path) -> Task:
    return Task(tmp_path / "chief-0")


def test_a_worker_under_a_chief_is_watched_in_the_phase_of_the_chief(
    task: Task, chief: Task
) -> None:
    leader, watchdog = watch(chief), watch(task)

    def poll(now: float) -> str | None:
        leader.poll(now)
        return change(watchdog, now, leader)

    chief.event("start", step=0)
    task.call()
    assert poll(1.0) is None
    assert poll(16.5) == "stalled"
    task.call()
    assert poll(17.0) == "recovered"
    chief.event("test", epoch=1)
    assert poll(18.0) is None
    assert poll(10_000.0) is None
    chief.event("epoch", step=50)
    assert poll(10_001.0) is None
    assert poll(10_015.9) is None
    assert poll(10_016.1) == "stalled"


def test_news_of_the_leader_does_not_end_the_silence_of_a_worker(task: Task, chief: Task) -> None:
    leader, watchdog = watch(chief), watch(task)
    task.call()
    watchdog.poll(1.0, leader)
    task.call()
    for now, expected in ((2.0, None), (17.5, "stalled")):
        leader.poll(now)
        assert change(watchdog, now, leader) == expected
    chief.event("checkpoint", step=3)
    leader.poll(18.0)
    assert change(watchdog, 18.0, leader) is None
    assert watchdog.silent
