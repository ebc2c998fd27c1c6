"""The runs that this machine started: any other folder among the runs is foreign code.

A resume executes the run's script with the interpreter and in the folder that run.json names. With
more epochs, it executes a script made from plan.json and devices.json. A script also imports
modules from its own folder, before all others, and from the folder of the copies of the user's own
files. Each run that this machine started is noted in the state folder, outside the folder of runs.
The note has the digest of all of that.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path

from . import locks
from .card import INTERPRETER_HERE
from .files import (
    CARD,
    KEPT_CODE,
    REHEARSAL_FOLDER,
    SCRIPT,
    RunError,
    read_json,
    unwritable,
    write_text,
)

_NAMED = ("interpreter", "working_dir", "state_dir")
"""The values of run.json that a resume uses."""
_FILES = ("config.json", "plan.json", "devices.json")
"""The files of which a script is made; earlier releases made it from config.json."""
_IMPORTED = (".py", ".pyc", ".so", ".pyd")
"""The endings of files that Python imports."""


def trust(run_dir: Path) -> None:
    """Note that the run, in its current state, was started on this machine.

    Raises:
        RunError: the state folder cannot be written, or the run cannot be read.
    """
    # The supervisor removes a rehearsal that went well.
    note(run_dir, digest_of(run_dir), _digest(run_dir, [run_dir]))


def is_trusted(run_dir: Path) -> bool:
    """Return whether the run was started here and a resume still executes the same code.

    Raises:
        RunError: the run's run.json is missing, or a file cannot be read.
    """
    return was_started(run_dir) and digest_of(run_dir) in noted(run_dir)


def was_started(folder: Path) -> bool:
    """Return whether this machine started what is in a folder, whatever its files are now."""
    return _note(folder).is_file()


def note(folder: Path, *digests: str) -> None:
    """Note in the state folder that this machine started what is in a folder.

    Raises:
        RunError: the state folder cannot be written.
    """
    path = _note(folder)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(path.parent, error) from error
    write_text(path, "".join(f"{digest}\n" for digest in digests))


def noted(folder: Path) -> list[str]:
    """Return the digests of a folder's files when this machine started it; empty if it did not."""
    with contextlib.suppress(OSError):
        return _note(folder).read_text(encoding="utf-8").split()
    return []


def digest_of(run_dir: Path) -> str:
    """Return the sha256 of everything in the run's folder that decides what a resume executes.

    Raises:
        RunError: the run's run.json is missing, or a file cannot be read.
    """
    return _digest(run_dir, [run_dir, run_dir / REHEARSAL_FOLDER])


def modules_beside(script: Path) -> list[Path]:
    """Return the files that a script imports from its own folder if it imports their names."""
    found = (*script.parent.glob("*.*"), *script.parent.glob("*/__init__.*"))
    modules = [path for path in found if path.suffix in _IMPORTED and path != script]
    return sorted(path for path in modules if _name_of(path, script.parent).isidentifier())


def kept_files(run_dir: Path) -> list[Path]:
    """Return the files from which a run can import in place of the user's own files."""
    return sorted(path for path in (run_dir / KEPT_CODE).rglob("*") if path.is_file())


def _name_of(module: Path, folder: Path) -> str:
    return module.relative_to(folder).parts[0].partition(".")[0]


def _note(run_dir: Path) -> Path:
    name = hashlib.sha256(os.fsencode(run_dir.resolve())).hexdigest()
    return locks.state_dir() / "started" / name


def _digest(run_dir: Path, folders: Sequence[Path]) -> str:
    card = read_json(run_dir / CARD)
    files = [folder / name for folder in folders for name in (SCRIPT, *_FILES)]
    modules = [path for folder in folders for path in modules_beside(folder / SCRIPT)]
    modules += kept_files(run_dir)
    present = [path for path in (*files, *modules) if path.is_file()]
    hashes = {str(path.relative_to(run_dir)): _sha256(path) for path in present}
    values = [card.get(name) for name in _NAMED]
    values += [card[name] for name in (INTERPRETER_HERE,) if name in card]
    text = json.dumps([values, hashes], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _sha256(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise RunError(
            f"{path} cannot be read: {error}. Restore it from a copy, or start a new run."
        ) from error
