"""Access to runs: one by its id, all of a folder, those of an archive, and unreadable ones."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeVar

from workbench.runs.copying.restore import archived_folders, restore
from workbench.runs.folder.files import RunError, find_run, full_path, run_folders, runs_root
from workbench.runs.folder.state import LIVE
from workbench.runs.run import Run

if TYPE_CHECKING:
    from workbench.runs.folder.state import Status
    from workbench.runs.records.progress import Progress
    from workbench.runs.summary import Summary

T = TypeVar("T")
UNREADABLE = "unreadable"


class UnreadableRun(Run):
    """A run whose run.json cannot be read; access to its state raises the reason."""

    def __init__(self, run_dir: Path, why: RunError) -> None:
        self.runs_dir, self.dir, self.why = None, run_dir, str(why)
        self.id = run_dir.name
        self.name, self.created = "", 0.0

    @property
    def status(self) -> Status:
        raise RunError(self.why)

    @property
    def progress(self) -> Progress:
        raise RunError(self.why)

    @property
    def summary(self) -> Summary:
        raise RunError(self.why)


def listed(folder: Path) -> Run:
    """Return the run of a folder, or an `UnreadableRun` that holds the reason."""
    try:
        return Run(folder)
    except RunError as error:
        return UnreadableRun(folder, error)


@dataclass(frozen=True)
class Unreadable:
    """A run that a list shows with the reason why it cannot be read."""

    run: Run
    error: str
    status: ClassVar = UNREADABLE
    alive: ClassVar = False

    @property
    def title(self) -> str:
        """The run's title."""
        return self.run.title

    @property
    def actions(self) -> list[str]:
        """A folder without a readable run.json may be anything, so it cannot be deleted."""
        return [] if isinstance(self.run, UnreadableRun) else ["delete"]

    def to_json(self) -> dict[str, str]:
        """Return the run and the reason as `workbench runs list --json` prints them."""
        known = {"run": self.run.id, "dir": str(self.run.dir)}
        return {**known, "status": self.status, "error": self.error}


def read_in_list(run: Run, read: Callable[[Run], T]) -> T | Unreadable:
    """Return what `read` reads of a run, or why it cannot be read: the other runs are listed."""
    try:
        return read(run)
    except Exception as error:  # any of its files can be damaged in any way
        return Unreadable(run, why_unreadable(error))


def summary_in_list(run: Run) -> Summary | Unreadable:
    """Return the summary of a run in a list; see `read_in_list`."""
    return read_in_list(run, lambda run: run.summary)


def why_unreadable(error: Exception) -> str:
    """Return in words why a run cannot be read, for any error that its files can cause."""
    if isinstance(error, RunError | OSError):
        return str(error)
    return f"Its files are not valid files of a run ({type(error).__name__}: {error})."


def open_run(run: str | os.PathLike[str], runs_dir: str | os.PathLike[str] | None = None) -> Run:
    """Open a run by its id in `runs_dir` (None: `$WORKBENCH_RUNS`, else `runs`), or by its folder.

    The copy of a run in an archive is opened in the archive. A resume restores it to `runs_dir`.

    Raises:
        RunError: there is no such run.
    """
    return Run(find_run(run, runs_dir), runs_dir)


def list_runs(runs_dir: str | os.PathLike[str] | None = None) -> list[Run]:
    """Return all runs of a folder, newest first.

    A run whose run.json cannot be read is an `UnreadableRun`, and comes last.
    """
    runs = [listed(folder) for folder in run_folders(runs_root(runs_dir))]
    return sorted(runs, key=lambda run: (run.created, run.id), reverse=True)


def living(runs: Iterable[Run]) -> Iterator[Run]:
    """Yield the runs that are alive; an unreadable run is left out."""
    for run in runs:
        with contextlib.suppress(RunError):
            if run.status in LIVE:
                yield run


def restore_run(
    folder: str | os.PathLike[str], runs_dir: str | os.PathLike[str] | None = None
) -> Run:
    """Copy a run out of its archive into the folder of runs, and return it; see `restore`.

    Raises:
        RunError: the run cannot be restored, for one of the reasons that `restore` lists.
    """
    return Run(restore(full_path(folder), runs_root(runs_dir)))


def archived_runs(folder: str | os.PathLike[str]) -> list[Run]:
    """Return the runs that can be restored from a folder: the run in it, or the runs below it.

    Raises:
        RunError: there is no run.
    """
    return [Run(each) for each in archived_folders(full_path(folder))]
