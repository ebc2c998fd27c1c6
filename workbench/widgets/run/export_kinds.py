"""What a run can be saved as for others: what each is for, its file's name, and its writing."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.bundle import write_bundle
from workbench.catalog import Choice
from workbench.exports import FORMATS, export_runs
from workbench.place import beside, file_name

if TYPE_CHECKING:
    from workbench.runs import Run

BUNDLE = "bundle"
BUNDLE_ENDING = "-bundle.zip"
KINDS = {
    "html": Choice(
        "HTML report",
        "One page with curves, results, environment and script, to show to anybody. It opens from "
        "disk, without a network.",
    ),
    "csv": Choice(
        "CSV tables",
        "Every step of every replica, and every epoch, as text: for spreadsheets and other tools.",
    ),
    "parquet": Choice(
        "Parquet tables",
        "The same tables in their own types, smaller and faster to read: for pandas and the like.",
    ),
    "tensorboard": Choice(
        "TensorBoard event files",
        "Curves, hyperparameters and script, to look at in TensorBoard beside runs from elsewhere.",
    ),
    BUNDLE: Choice(
        "Replay bundle",
        "Script, config, exact versions and each step's loss of a finished run in one zip file, to "
        "do it again elsewhere and see whether it comes out the same.",
    ),
}
Told = Callable[[int, int], None]
"""Is told how many parts of how many are written."""


@dataclass(frozen=True)
class Saved:
    """What was saved, and what a person types next."""

    path: Path
    size: int
    """In bytes; of a folder all that is in it."""
    purpose: str = ""
    command: str = ""
    """For a terminal; empty where there is none."""
    modules: tuple[str, ...] = ()
    """What the script of a bundle imports and no package provides."""


def usual_place(run: Run, kind: str) -> Path:
    """Return a path beside a run's folder where nothing is."""
    ending = BUNDLE_ENDING if kind == BUNDLE else FORMATS[kind].ending
    path = run.dir.with_name(f"{file_name(run.id)}{ending}")
    return beside(path) if path.exists() else path


def save(run: Run, kind: str, path: Path, told: Told) -> Saved:
    """Write a run to a path, whole or not at all.

    Raises:
        RunError: something is at the path, it cannot be written, a package is missing, or the run
            is not one that can be saved so.
    """
    if kind == BUNDLE:
        modules = tuple(write_bundle(run, path).modules)
        command = f"workbench run --config {shlex.quote(path.name)}"
        return Saved(path, size_of(path), "Do it again elsewhere:", command, modules)
    export_runs([run], kind, path, told)
    if kind == "tensorboard":
        command = f"tensorboard --logdir {shlex.quote(str(path))}"
        return Saved(path, size_of(path), "Look at it with:", command)
    return Saved(path, size_of(path))


def size_of(path: Path) -> int:
    """Return the bytes of a file, or of all files in a folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(each.stat().st_size for each in files if each.is_file())
