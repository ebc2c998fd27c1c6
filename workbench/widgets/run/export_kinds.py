"""The kinds of file that a run can be saved as: their purpose, file name and writing."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.bundle import write_bundle
from workbench.catalog import Choice
from workbench.exports import FORMATS, export_runs
from workbench.free_path import beside, file_name

if TYPE_CHECKING:
    from workbench.runs import Run

BUNDLE = "bundle"
BUNDLE_ENDING = "-bundle.zip"
KINDS = {
    "html": Choice(
        "HTML report",
        "One page with curves, results, environment and script, to share. It opens from disk, "
        "offline.",
    ),
    "csv": Choice(
        "CSV tables",
        "Every step of every replica, and every epoch, as text: for spreadsheets and other tools.",
    ),
    "parquet": Choice(
        "Parquet tables",
        "The same tables with typed columns: smaller, faster to read, for pandas and other tools.",
    ),
    "tensorboard": Choice(
        "TensorBoard event files",
        "Curves, hyperparameters and script, to view in TensorBoard next to other runs.",
    ),
    BUNDLE: Choice(
        "Replay bundle",
        "Script, config, exact versions and each step's loss of a finished run in one zip file, to "
        "repeat the run elsewhere and compare the results.",
    ),
}
OnProgress = Callable[[int, int], None]
"""A callback that gets the number of written parts and the number of all parts."""


@dataclass(frozen=True)
class Saved:
    """A saved file or folder, and the next command for the person to type."""

    path: Path
    size: int
    """In bytes; for a folder, the sum of all files in it."""
    purpose: str = ""
    command: str = ""
    """A command for a terminal; empty if there is none."""
    certificate: str = ""
    """What the certificate of a bundle states, or why there is none."""
    modules: tuple[str, ...] = ()
    """The modules that the script of a bundle imports and that no package provides."""


def usual_place(run: Run, kind: str) -> Path:
    """Return a free path next to a run's folder."""
    ending = BUNDLE_ENDING if kind == BUNDLE else FORMATS[kind].ending
    path = run.dir.with_name(f"{file_name(run.id)}{ending}")
    return beside(path) if path.exists() else path


def save(run: Run, kind: str, path: Path, on_progress: OnProgress) -> Saved:
    """Write a run to a path, completely or not at all.

    Raises:
        RunError: the path already exists, it cannot be written, a package is missing, or this run
            cannot be saved as this kind.
    """
    if kind == BUNDLE:
        manifest = write_bundle(run, path)
        command = f"workbench run --config {shlex.quote(path.name)}"
        return Saved(
            path,
            size_of(path),
            "Repeat the run elsewhere:",
            command,
            manifest.certificate,
            tuple(manifest.modules),
        )
    export_runs([run], kind, path, on_progress)
    if kind == "tensorboard":
        command = f"tensorboard --logdir {shlex.quote(str(path))}"
        return Saved(path, size_of(path), "View it with:", command)
    return Saved(path, size_of(path))


def size_of(path: Path) -> int:
    """Return the bytes of a file, or of all files in a folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(each.stat().st_size for each in files if each.is_file())
