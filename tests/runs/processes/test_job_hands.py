"""A job is looked at again and again, whatever a look at it meets."""

import json
from pathlib import Path

import pytest

from tests.waiting import until
from workbench.launchers.job import JobFolder
from workbench.launchers.kubernetes import Kubernetes
from workbench.runs.processes import job_hands


def test_a_volume_that_cannot_be_read_is_told_until_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_hands, "LOOK_SECONDS", 0.01)
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "worker-0.clock").touch()
    told = tmp_path / "job.json"
    told.mkdir()
    job = job_hands.Job(Kubernetes(), JobFolder(tmp_path), "run-1")
    try:
        until(lambda: "Is a directory" in job.trouble)
        told.rmdir()
        told.write_text("{")
        until(lambda: "Expecting property name" in job.trouble)
        told.write_text(json.dumps({"tasks": ["worker-0"]}))
        until(lambda: job.look.phase == "running" and not job.trouble)
    finally:
        job.close()


def test_a_job_that_cannot_be_ended_says_why(tmp_path: Path) -> None:
    job = job_hands.Job(Kubernetes(), JobFolder(tmp_path / "gone"), "run-1")
    job.close()
    job.cancel()
    assert "No such file" in job.trouble
