"""The folder of runs that a page names, and its runs; a path that leads elsewhere is refused."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from workbench.runs import Run, RunError, open_run
from workbench.runs.folder.files import runs_root

from .errors import RequestError

NAME = re.compile(r"[\w][\w.+-]{0,127}", re.ASCII)


@dataclass(frozen=True)
class RunsFolder:
    """A folder of runs, by its real path."""

    path: Path

    def run(self, run_id: str) -> Run:
        """Return a run by its id.

        Raises:
            RequestError: the id is not a plain name, leads out of the folder, or belongs to no run.
        """
        folder = self.path / run_id
        plain = NAME.fullmatch(run_id) is not None
        if not plain or folder.is_symlink() or folder.resolve().parent != self.path:
            raise RequestError(
                400,
                f"A run's id is the name of a folder within {self.path}; received {run_id!r}. "
                "Choose a run from the list.",
            )
        try:
            return open_run(folder, self.path)
        except RunError as error:
            raise RequestError(404, str(error)) from error


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
            f"A folder of runs must be within {root}, the server's root folder; received "
            f"{asked!r}. Change the setting, or set WORKBENCH_RUNS before the server starts.",
        )
    return RunsFolder(path)
