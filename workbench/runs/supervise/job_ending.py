"""The end of a job that no supervisor follows any more."""

from __future__ import annotations

import time
from pathlib import Path

from workbench.launchers import ENGINES, LauncherError
from workbench.launchers.job import JobFolder
from workbench.runs.folder.files import RunError

ENDING_SECONDS = 20.0
POLL_SECONDS = 0.2


def end_job(run_dir: Path, seconds: float = ENDING_SECONDS) -> None:
    """End the last job of a run whose supervisor has ended; wait at most `seconds` for that.

    A job that the engine does not end in that time soon loses its files, and then ends itself.

    Raises:
        RunError: the job's engine cannot be asked whether the job goes on.
    """
    folder = JobFolder.newest(run_dir)
    if folder is None:
        return
    noted = folder.noted
    engine = ENGINES[noted["engine"]]
    until = time.monotonic() + seconds
    try:
        status = engine.job_status(folder.path, noted["job"])
        if status is not None and status.phase != "over":
            engine.cancel(folder.path, noted["job"])
        while status is not None and status.phase != "over" and time.monotonic() < until:
            time.sleep(POLL_SECONDS)
            status = engine.job_status(folder.path, noted["job"])
    except LauncherError as error:
        raise RunError(
            f"The lost run's {engine.name} job {noted['job']} cannot be ended from here: {error} "
            f"Or remove {run_dir} yourself."
        ) from None
