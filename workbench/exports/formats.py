"""The formats that runs are exported to, and the one door to all of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.place import file_name, new_place
from workbench.runs import RunError
from workbench.runs.folder.files import full_path

if TYPE_CHECKING:
    from workbench.runs import Run

Told = Callable[[int, int], None]
"""Is told how many parts of how many are written."""


@dataclass(frozen=True)
class Format:
    """One way to write runs: the function that does it, and what it needs to be installed."""

    writer: str
    """`module:function` of this room; takes runs, the new path and `Told`."""
    ending: str
    package: str = ""
    """The package beyond those that the workbench brings; empty where it needs none."""


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
    told: Told | None = None,
) -> Path:
    """Write one or several runs, all or nothing, and return the new path.

    csv and parquet write a folder with runs.csv, a row a run, and the frames of `Run.steps`,
    `Run.replica_steps` and `Run.epochs` in folders of their names, a file a run, its id in the
    column `run`. tensorboard writes a folder to give to `tensorboard --logdir`; see `tensorboard`.

    Args:
        runs: at least one, each once; those that go on are written as they are now.
        format_name: csv, parquet, tensorboard or html.
        path: what to write; nothing may be there. None: the run's id, or `runs`, with the
            format's ending, in the working directory.
        told: told of the progress.

    Raises:
        RunError: no such format, a run given twice, a package that is not installed, something at
            the path already, or a place that cannot be written.
    """
    if format_name not in FORMATS:
        known = ", ".join(FORMATS)
        raise RunError(f"Runs are exported as {known}; received {format_name!r}. Choose one.")
    _check_each_once(runs)
    chosen = FORMATS[format_name]
    name = file_name(runs[0].id) if len(runs) == 1 else "runs"
    target = full_path(path or f"{name}{chosen.ending}")
    module, _, function = chosen.writer.partition(":")
    if chosen.package:
        _check_installed(chosen.package, format_name)
    write = getattr(import_module(f".{module}", __package__), function)
    with new_place(target) as hidden:
        write(runs, hidden, told or (lambda done, total: None))
    return target


def _check_each_once(runs: Sequence[Run]) -> None:
    ids = [run.id for run in runs]
    if twice := sorted({each for each in ids if ids.count(each) > 1}):
        raise RunError(
            f"Each run is exported once; received {', '.join(twice)} twice. Name it once."
        )
    if not runs:
        raise RunError("An export has at least one run; received none. Name a run.")


def _check_installed(package: str, format_name: str) -> None:
    try:
        import_module(package)
    except ImportError as error:
        raise RunError(
            f"The format {format_name} is written by the package {package}; received: {error}. "
            f'Install it with: pip install "tf-distribute-workbench[export]", or export csv.'
        ) from error
