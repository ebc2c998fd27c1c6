"""The folder of runs that a page names, and its runs; a path that leads elsewhere is refused."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from workbench.plan.plan import TASK_NAME
from workbench.runs import Run, RunError, open_run
from workbench.runs.folder.files import run_folders, runs_root
from workbench.runs.listing import UnreadableRun, listed

from .errors import RequestError

NAME = re.compile(r"[\w][\w.+-]{0,127}", re.ASCII)


@dataclass(frozen=True)
class RunsFolder:
    """A folder of runs, by its real path."""

    path: Path

    def run(self, run_id: str) -> Run:
        """Return a run by its id.

        Raises:
            RequestError: the id is not a plain name, leads out of the folder, or belongs to no run;
                or a file of the run is a link that leads out of the run's folder.
        """
        folder = self.path / run_id
        plain = NAME.fullmatch(run_id) is not None
        if not plain or folder.is_symlink() or folder.resolve().parent != self.path:
            raise RequestError(
                400,
                f"{run_id!r} is not the id of a run in {self.path}. Choose a run from the list.",
            )
        try:
            _refuse_links(folder)
            return open_run(folder, self.path)
        except RunError as error:
            raise RequestError(404, str(error)) from error

    def listed(self, name: str) -> Run:
        """Return the run of a folder in a list; a link is an `UnreadableRun` with the reason."""
        folder = self.path / name
        try:
            _refuse_links(folder)
        except RunError as error:
            return UnreadableRun(folder, error)
        return listed(folder)

    def runs(self) -> list[Run]:
        """Return all runs, newest first; see `listed`.

        Raises:
            RunError: the folder exists but cannot be read.
        """
        found = (self.listed(path.name) for path in run_folders(self.path))
        return sorted(found, key=lambda run: (run.created, run.id), reverse=True)


def _refuse_links(folder: Path) -> None:
    """Refuse a run that is a link, or that shows a file or a task from outside of its folder.

    Raises:
        RunError: there is such a link, or a folder cannot be read.
    """
    if folder.is_symlink():
        raise RunError(_no_link(folder))
    try:
        for link in _links_in(folder):
            if not Path(os.path.realpath(link)).is_relative_to(folder):
                raise RunError(_no_link(link))
    except (FileNotFoundError, NotADirectoryError):
        return  # there is no such run
    except OSError as error:
        raise RunError(
            f"Cannot read {error.filename}: {error.strerror}. Give yourself the right to read it."
        ) from error


def _links_in(folder: Path) -> Iterator[Path]:
    """Yield the files of a run, its tasks and the files of its tasks that are links."""
    with os.scandir(folder) as entries:
        for entry in entries:
            is_task = TASK_NAME.fullmatch(entry.name) is not None
            if entry.is_symlink() and (is_task or not entry.is_dir()):
                yield Path(entry.path)
            elif is_task and entry.is_dir():
                yield from _links_in(Path(entry.path))


def _no_link(path: Path) -> str:
    return (
        f"{path} is a link to {path.readlink()}. A page shows only runs whose files are in the "
        "run's own folder. Replace the link with a copy of the file, or remove it."
    )


def runs_folder(root_dir: str | os.PathLike[str], asked: str) -> RunsFolder:
    """Return the folder that a page asks for, relative to the server's root folder.

    An empty `asked` means the usual folder: `$WORKBENCH_RUNS`, else `runs` in the server's root
    folder.

    Raises:
        RequestError: the folder is outside the server's root folder.
    """
    root = Path(root_dir).expanduser().resolve()
    if not asked:
        usual = os.environ.get("WORKBENCH_RUNS")
        return RunsFolder(runs_root(usual or root / "runs").resolve())
    within = "\0" not in asked and not Path(asked).is_absolute()
    path = (root / asked).resolve() if within else root
    if not within or not path.is_relative_to(root):
        raise RequestError(
            400,
            f"{asked!r} is not a relative path inside {root}, the server's root folder. Change "
            "the folder of runs in the settings, or set WORKBENCH_RUNS before the server starts.",
        )
    return RunsFolder(path)
