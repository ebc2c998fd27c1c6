"""The runs that this machine started: any other folder among the runs is foreign code.

A resume executes the run's script with the interpreter that run.json names. Each run that this
machine started is noted in the state folder, outside the folder of runs. The note is a digest of
the script, the interpreter and the working directory.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path

from . import locks
from .files import CARD, SCRIPT, RunError, read_json, unwritable, write_text


def trust(run_dir: Path) -> None:
    """Note that the run, in its current state, was started on this machine.

    Raises:
        RunError: the state folder cannot be written.
    """
    note = _note(run_dir)
    try:
        note.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(note.parent, error) from error
    write_text(note, _digest(run_dir))


def is_trusted(run_dir: Path) -> bool:
    """Return whether the run was started here and a resume still executes the same code.

    Raises:
        RunError: the run's run.json or script is missing or cannot be read.
    """
    with contextlib.suppress(OSError):
        return _note(run_dir).read_text(encoding="utf-8") == _digest(run_dir)
    return False


def _note(run_dir: Path) -> Path:
    name = hashlib.sha256(os.fsencode(run_dir.resolve())).hexdigest()
    return locks.state_dir() / "started" / name


def _digest(run_dir: Path) -> str:
    card = read_json(run_dir / CARD)
    try:
        script = (run_dir / SCRIPT).read_bytes()
    except OSError as error:
        raise RunError(
            f"A run folder holds its {SCRIPT}; {run_dir / SCRIPT}: {error}. "
            "Restore it from a copy, or start a new run."
        ) from error
    named = json.dumps([card.get("interpreter"), card.get("working_dir")]).encode()
    return hashlib.sha256(named + b"\n" + script).hexdigest()
