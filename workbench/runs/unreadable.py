"""A run whose folder cannot be read: what a list shows of it, and the reason."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.runs.folder.files import RunError

from .run import Run

if TYPE_CHECKING:
    from workbench.runs.folder.state import Status
    from workbench.runs.records.progress import Progress

    from .outline import Outline


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
    def outline(self) -> Outline:
        raise RunError(self.why)

    def result(self) -> dict[str, Any]:
        raise RunError(self.why)


def listed(folder: Path) -> Run:
    """Return the run of a folder, or an `UnreadableRun` that holds the reason."""
    try:
        return Run(folder)
    except RunError as error:
        return UnreadableRun(folder, error)


def why_unreadable(error: Exception) -> str:
    """Return in words why a run cannot be read, for any error that its files can cause."""
    if isinstance(error, RunError | OSError):
        return str(error)
    return f"Its files are not valid files of a run ({type(error).__name__}: {error})."
