"""A run as one zip file, to take along: all but the checkpoints before the last one."""

from __future__ import annotations

import contextlib
import os
import secrets
import zipfile
import zlib
from pathlib import Path

from workbench.runs.folder.checkpoints import FOLDER, STATE, Saved, state_text
from workbench.runs.folder.files import RunError, read_json, unwritable

from .mirror import files_in_order

BROKEN_ZIP = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
"""What `zipfile` raises of a damaged file, an encrypted one, or one of an unknown method."""


def pack(run_dir: Path, path: Path) -> Path:
    """Write a run to a zip file, whole or not at all, and return its path.

    A run that lives is packed as it is now. `restore_run` brings it back on another machine.

    Raises:
        RunError: the file cannot be written, or the run's folder is gone.
    """
    name = str(read_json(run_dir / "run.json")["id"])
    hidden = path.with_name(f".packing-{os.getpid()}-{secrets.token_hex(3)}")
    try:
        with zipfile.ZipFile(hidden, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
            newest, saved = _newest(run_dir)
            for each in (*files_in_order(run_dir), *saved):
                with contextlib.suppress(FileNotFoundError):  # it went meanwhile
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
    """Write the run that a zip file holds below a folder; return its own folder there.

    Raises:
        RunError: it is no such file.
        OSError: it cannot be read, or the folder cannot be written.
    """
    try:
        with zipfile.ZipFile(path) as packed:
            packed.extractall(folder)
    except BROKEN_ZIP as error:
        raise RunError(
            f"A packed run is a whole zip file; {path}: {error}. Download or upload it again."
        ) from error
    found = [card.parent for card in folder.glob("*/run.json")]
    if len(found) != 1:
        raise RunError(
            f"A packed run is a zip file with one folder in it that holds a run.json; {path} has "
            f"{len(found)}. Choose the file that the workbench made."
        )
    return found[0]


def _newest(run_dir: Path) -> tuple[str, list[Path]]:
    """Return the name of the newest whole checkpoint and its files; an empty one without any."""
    saved = Saved.read(run_dir / FOLDER)
    whole = saved.whole() if saved else []
    return (whole[-1], saved.files(whole[-1])) if saved and whole else ("", [])
