"""A run as one zip file to take along: all files except the checkpoints before the last one."""

from __future__ import annotations

import contextlib
import os
import secrets
import zipfile
import zlib
from pathlib import Path

from workbench.runs.folder.card import read_card
from workbench.runs.folder.checkpoints import FOLDER, STATE, Saved, state_text
from workbench.runs.folder.files import CARD, RunError, unwritable

from .mirror import files_in_order

BROKEN_ZIP = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
"""The errors of `zipfile` for a damaged file, an encrypted file, or an unknown method."""


def pack(run_dir: Path, path: Path) -> Path:
    """Write a run to a zip file, completely or not at all, and return the file's path.

    A living run is packed in its current state. `restore_run` restores it on another machine.

    Raises:
        RunError: the file cannot be written, or the run's folder is missing.
    """
    name = read_card(run_dir).made_as
    hidden = path.with_name(f".packing-{os.getpid()}-{secrets.token_hex(3)}")
    try:
        with zipfile.ZipFile(hidden, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
            newest, saved = _newest(run_dir)
            for each in (*files_in_order(run_dir), *saved):
                with contextlib.suppress(FileNotFoundError):  # it was removed in the meantime
                    packed.write(each, f"{name}/{each.relative_to(run_dir)}")
            if newest:
                packed.writestr(f"{name}/{FOLDER}/{STATE}", state_text([newest]))
        hidden.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            hidden.unlink()
        raise unwritable(path, error) from error
    return path


def unpack(path: Path, folder: Path) -> Path:
    """Extract the run in a zip file to a new folder below `folder`; return that new folder.

    Raises:
        RunError: the file is not a packed run.
        OSError: the file cannot be read, or the folder cannot be written.
    """
    try:
        with zipfile.ZipFile(path) as packed:
            packed.extractall(folder)
    except BROKEN_ZIP as error:
        raise RunError(
            f"{path} cannot be read as a zip file: {error}. Choose a packed run. If it is one, "
            "download or upload it again."
        ) from error
    found = [card.parent for card in folder.glob(f"*/{CARD}")]
    if len(found) != 1:
        raise RunError(
            f"{path} is not a packed run: it has {len(found)} folders with a run.json, instead of "
            "one. Choose a file that `workbench runs pack` or Download run (.zip) made."
        )
    return found[0]


def _newest(run_dir: Path) -> tuple[str, list[Path]]:
    """Return name and files of the newest complete checkpoint; an empty name if there is none."""
    saved = Saved.read(run_dir / FOLDER)
    whole = saved.whole() if saved else []
    return (whole[-1], saved.files(whole[-1])) if saved and whole else ("", [])
