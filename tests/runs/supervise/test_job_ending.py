"""The end of the job of a lost run, when the run is deleted."""

import os
from pathlib import Path

from tests.widgets.folders import write_run
from workbench import flock
from workbench.launchers import ray_driver
from workbench.launchers.job import JobFolder


def test_deleting_a_lost_run_from_elsewhere_cancels_no_job(tmp_path: Path) -> None:
    run = write_run(tmp_path / "runs", "running")
    job = JobFolder.make(tmp_path / "mine")
    job.note("ray", "123")
    lives = flock.take(job.path / ray_driver.LOCK)
    assert lives is not None
    (run.dir / "jobs").mkdir()
    (run.dir / "jobs" / "0001").symlink_to(job.path)
    assert run.status == "lost"
    run.delete()
    os.close(lives)
    assert not run.dir.exists()
    assert not (job.path / ray_driver.CANCEL).exists()
