"""The helper that starts a task on its host: how it finds the other tasks, and its errors."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import LIMIT_SECONDS
from workbench.launchers import task_helper
from workbench.launchers.job import AttemptFolder, JobFolder

TWO = ("worker-0", "worker-1")
SCRIPT = "import os, json; print(json.loads(os.environ['TF_CONFIG'])['cluster'])"


def job(
    tmp_path: Path,
    code: str = SCRIPT,
    meet_seconds: float = 20.0,
    tasks: tuple[str, ...] = TWO,
) -> JobFolder:
    values = {
        "run_dir": str(tmp_path),
        "tasks": tasks,
        "command": [sys.executable, "-c", code],
        "working_dir": str(tmp_path),
        "environment": {"ADDED": "1"},
        "unset": ["TF_CONFIG"],
        "module_dirs": [],
        "meet_seconds": meet_seconds,
    }
    folder = JobFolder.make(tmp_path)
    folder.describe(values)
    return folder


def start(folder: JobFolder, number: int, **environment: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, task_helper.__file__, str(folder.path), str(number)]
    return subprocess.Popen(command, env={**os.environ, **environment})


def log(tmp_path: Path, task: str) -> str:
    return (tmp_path / task / "log.txt").read_text()


def exit_of(folder: JobFolder, task: str) -> dict[str, int]:
    report = AttemptFolder(folder.path / "0").message(task, "exit")
    assert report is not None
    values: dict[str, int] = json.loads(report)
    return values


def test_all_tasks_get_the_same_cluster_in_any_order_of_arrival(tmp_path: Path) -> None:
    folder = job(tmp_path)
    second = start(folder, 1)
    while AttemptFolder(folder.path / "0").message("worker-1", "address") is None:
        assert second.poll() is None
    first = start(folder, 0)
    assert (first.wait(LIMIT_SECONDS), second.wait(LIMIT_SECONDS)) == (0, 0)
    assert log(tmp_path, "worker-0") == log(tmp_path, "worker-1") != ""
    assert exit_of(folder, "worker-0")["peak_bytes"] > 2**20


def test_hosts_with_different_versions_are_named_before_the_tasks_train(tmp_path: Path) -> None:
    folder = job(tmp_path, "raise SystemExit('it must not train')", meet_seconds=LIMIT_SECONDS)
    other = tmp_path / "packages" / "tensorflow-1.99.0.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: tensorflow\nVersion: 1.99.0\n")
    first = start(folder, 0)
    second = start(folder, 1, PYTHONPATH=str(other.parent))
    assert (first.wait(LIMIT_SECONDS), second.wait(LIMIT_SECONDS)) == (1, 1)
    for task in TWO:
        (text,) = log(tmp_path, task).splitlines()
        assert "All tasks of a run need the same Python, TensorFlow and Keras" in text
        assert f"TensorFlow 1.99.0 (worker-1 on {socket.gethostname()})" in text
        assert "Keras" not in text.partition("different versions: ")[2].partition("All tasks")[0]
        assert f"Install the same versions for {sys.executable}" in text


def test_a_task_that_waits_too_long_names_the_missing_task(tmp_path: Path) -> None:
    folder = job(tmp_path, meet_seconds=0.5)
    assert start(folder, 0).wait(LIMIT_SECONDS) == 1
    assert "worker-1 did not connect" in log(tmp_path, "worker-0")


def test_an_unreachable_address_is_named_with_the_fix(tmp_path: Path) -> None:
    folder = job(tmp_path, meet_seconds=0.5)
    AttemptFolder(folder.path / "0").ask("worker-1", "address", "no-such-host.invalid:1234")
    assert start(folder, 0).wait(LIMIT_SECONDS) == 1
    text = log(tmp_path, "worker-0")
    assert "cannot reach worker-1 at no-such-host.invalid:1234" in text
    assert "DNS" in text


@pytest.mark.parametrize(
    ("before", "then", "status"),
    [("", "finished", 0), ("", "stopped", 0), ("", "epoch", 134), ("finished", "epoch", 134)],
)
def test_a_crash_after_the_end_of_the_work_is_not_a_failure(
    before: str, then: str, status: int, tmp_path: Path
) -> None:
    (tmp_path / "worker-0").mkdir()
    (tmp_path / "worker-0" / "events.jsonl").write_text(f'{{"event": "{before}"}}\n')
    code = f"""
import os
with open("worker-0/events.jsonl", "a") as file:
    file.write('{{"event": "{then}"}}\\n')
os.abort()
"""
    folder = job(tmp_path, code, tasks=("worker-0",))
    assert start(folder, 0).wait(LIMIT_SECONDS) == status
    assert (exit_of(folder, "worker-0")["status"] == 0) == (status == 0)


def test_a_folder_missing_on_the_host_is_reported(tmp_path: Path) -> None:
    command = [sys.executable, task_helper.__file__, str(tmp_path / "elsewhere"), "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == task_helper.UNSHARED
    assert "All hosts must share the folder of a run" in done.stderr


def test_a_clock_that_differs_is_measured(tmp_path: Path) -> None:
    attempt = AttemptFolder(tmp_path / "0")
    attempt.ask("worker-0", "clock", "0.0")
    stamp = (tmp_path / "0" / "worker-0.clock").stat().st_mtime
    attempt.ask("worker-0", "clock", repr(stamp + 100.0))
    ahead = attempt.clock_ahead_seconds("worker-0")
    assert ahead is not None
    assert 95.0 < ahead < 105.0
    assert attempt.clock_ahead_seconds("worker-1") is None
