"""The formats for the export of runs, and the single function for all of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.free_path import file_name, new_path
from workbench.runs import RunError
from workbench.runs.folder.files import full_path

if TYPE_CHECKING:
    from workbench.runs import Run

OnProgress = Callable[[int, int], None]
"""A function that receives the number of written parts and the number of all parts."""


@dataclass(frozen=True)
class Format:
    """One way to write runs: the function that writes, and the package that it needs."""

    writer: str
    """`module:function` of this package; the function takes runs, the new path and `OnProgress`."""
    ending: str
    package: str = ""
    """The package that is needed in addition to the workbench's own; empty if none is needed."""


FORMATS = {
    "csv": Format("tables:write_csv", "-csv"),
    "parquet": Format("tables:write_parquet", "-parquet", "pyarrow"),
    "tensorboard": Format("tensorboard:write_tensorboard", "-tensorboard", "tensorboard"),
    "html": Format("pages:write_html", ".html"),
}


def export_runs(
    runs: Sequence[Run],
    format_name: str,
    path: str | os.PathLike[str] | None = None,
    on_progress: OnProgress | None = None,
) -> Path:
    """Write one or several runs, all or nothing, and return the new path.

    csv and parquet write a folder. It holds runs.csv, which has a row for each run. It also holds
    the frames of `Run.steps`, `Run.replica_steps` and `Run.epochs` in folders with these names.
    Each run has its own file there; the column `run` holds its id. tensorboard writes a folder for
    `tensorboard --logdir`; see `tensorboard`. html writes one page.

    Args:
        runs: at least one run, each only once; an unfinished run is written in its present state.
        format_name: csv, parquet, tensorboard or html.
        path: the new file or folder; nothing may exist there. None: the run's id, or `runs`, with
            the format's ending, in the working directory.
        on_progress: a function that receives the progress.

    Raises:
        RunError: the format is unknown, no run is given, a run is given twice, a package is not
            installed, something exists at the path, or the path cannot be written.
    """
    if format_name not in FORMATS:
        known = ", ".join(FORMATS)
        raise RunError(f"{format_name!r} is not an export format. Choose one of {known}.")
    _check_each_once(runs)
    chosen = FORMATS[format_name]
    name = file_name(runs[0].id) if len(runs) == 1 else "runs"
    target = full_path(path or f"{name}{chosen.ending}")
    module, _, function = chosen.writer.partition(":")
    if chosen.package:
        _check_installed(chosen.package, format_name)
    write = getattr(import_module(f".{module}", __package__), function)
    with new_path(target) as hidden:
        write(runs, hidden, on_progress or (lambda done, total: None))
    return target


def _check_each_once(runs: Sequence[Run]) -> None:
    ids = [run.id for run in runs]
    if twice := sorted({each for each in ids if ids.count(each) > 1}):
        raise RunError(f"Named more than once: {', '.join(twice)}. Name each run once.")
    if not runs:
        raise RunError("There is no run to export. Name a run.")


def _check_installed(package: str, format_name: str) -> None:
    try:
        import_module(package)
    except ImportError as error:
        raise RunError(
            f"The format {format_name} needs the package {package}: {error}. "
            f'Install it with: pip install "tf-distribute-workbench[export]", or export csv.'
        ) from error
