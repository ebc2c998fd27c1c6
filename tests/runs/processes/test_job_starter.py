"""A job is checked repeatedly, whatever error a check meets."""

import json
from pathlib import Path

import pytest

from tests.waiting import until
from workbench.launchers.job import JobFolder
from workbench.launchers.kubernetes import Kubernetes
from workbench.runs.processes import job_starter


def test_an_unreadable_volume_is_reported_until_it_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_starter, "POLL_SECONDS", 0.01)
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "worker-0.clock").touch()
    manifest = tmp_path / "job.json"
    manifest.mkdir()
    job = job_starter.Job(Kubernetes(), JobFolder(tmp_path), "run-1")
    try:
        until(lambda: "Is a directory" in job.error)
        manifest.rmdir()
        manifest.write_text("{")
        until(lambda: "Expecting property name" in job.error)
        manifest.write_text(json.dumps({"tasks": ["worker-0"]}))
        until(lambda: job.status.phase == "running" and not job.error)
    finally:
        job.close()


def test_the_reason_why_a_job_cannot_be_ended_is_kept(tmp_path: Path) -> None:
    job = job_starter.Job(Kubernetes(), JobFolder(tmp_path / "gone"), "run-1")
    job.close()
    job.cancel()
    assert "No such file" in job.error
