"""The state of a job on Kubernetes, from the files of its helpers on the volume."""

import json
import os
import time
from pathlib import Path

import pytest

from workbench.launchers.kubernetes import RESTART_SECONDS, Kubernetes

HOUR = 3600.0


@pytest.fixture
def exit_file(tmp_path: Path) -> Path:
    """The note of the failure of a job's only task, which has just been written."""
    (tmp_path / "job.json").write_text(json.dumps({"tasks": ["worker-0"]}))
    (tmp_path / "0").mkdir()
    (tmp_path / "0" / "worker-0.clock").touch()
    path = tmp_path / "0" / "worker-0.exit"
    path.write_text(json.dumps({"status": 1}))
    return path


def state_of(job_dir: Path) -> str:
    status = Kubernetes().job_status(job_dir, "run-1")
    assert status is not None
    return status.state


@pytest.mark.parametrize("ahead", [0.0, HOUR, -HOUR])
def test_a_failed_task_can_restart_for_a_while_on_the_clock_of_the_volume(
    exit_file: Path, ahead: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = time.time
    monkeypatch.setattr(time, "time", lambda: right() + ahead)
    job_dir = exit_file.parents[1]
    assert state_of(job_dir) == "RESTARTING"
    noted = exit_file.stat().st_mtime - RESTART_SECONDS
    os.utime(exit_file, (noted, noted))
    assert state_of(job_dir) == "FAILED"
