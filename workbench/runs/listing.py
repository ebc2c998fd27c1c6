"""The runs of a folder: one by its name, or all."""

from __future__ import annotations

import contextlib
import os

from .directory import RunError, find_run, run_folders, runs_root
from .run import Run


def open_run(run: str | os.PathLike[str], runs_dir: str | os.PathLike[str] | None = None) -> Run:
    """Open a run by its id in `runs_dir` (None: `$WORKBENCH_RUNS`, else `runs`), or its folder.

    A run's copy in an archive is opened where it is; resumed, it is brought back to `runs_dir`.

    Raises:
        RunError: there is none.
    """
    return Run(find_run(run, runs_dir), runs_dir)


def list_runs(runs_dir: str | os.PathLike[str] | None = None) -> list[Run]:
    """Return all runs of a folder, newest first. Folders without a whole run.json are left out."""
    runs = []
    for folder in run_folders(runs_root(runs_dir)):
        with contextlib.suppress(RunError):
            runs.append(Run(folder))
    return sorted(runs, key=lambda run: (run.created, run.id), reverse=True)
