"""The archive of a run: its place, whether it can be reached, and which places are allowed."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import threading
from pathlib import Path

from .files import CARD, RunError, expanded, read_json
from .plan import read_plan

MARK = "archive.json"
"""A file in a copy of a run; it names the folder of the run itself."""
DRIVE = Path("/content/drive")
MOUNT_DRIVE = "Mount it in a cell: from google.colab import drive; drive.mount('/content/drive')."
ANSWER_SECONDS = 20.0
Refusal = tuple[str, str, str]


def archive_of(run_dir: Path) -> Path | None:
    """Return the folder to which a run is copied; None if it is not copied.

    Raises:
        RunError: the run's plan or card cannot be read.
    """
    named = read_plan(run_dir).config.archive
    if not named:
        return None
    card = read_json(run_dir / CARD)
    return place(named, Path(str(card.get("working_dir") or run_dir))) / run_dir.name


def is_copy(run_dir: Path) -> bool:
    """Return whether a folder is the copy of a run in an archive."""
    return (run_dir / MARK).exists()


def place(archive: str, asked_from: Path) -> Path:
    """Return the folder of an archive; a relative path is resolved against `asked_from`.

    `asked_from` is the folder in which the run was requested.

    Raises:
        RunError: the path begins with ~ and there is no such home folder.
    """
    return asked_from.absolute() / expanded(archive)


def mount_above(folder: Path) -> Path:
    """Return the mount point of the file system on which a folder lies or will lie."""
    return next(path for path in (folder, *folder.parents) if os.path.ismount(path))


def check_mounted(folder: Path, mount: Path) -> None:
    """Refuse to write below a place at which nothing is mounted any more.

    Files written there would fill the local disk, and would prevent a new mount.

    Raises:
        OSError: nothing is mounted there, or Drive is not mounted.
    """
    if not os.path.ismount(mount):
        raise OSError(errno.ENODEV, "nothing is mounted there any more", str(mount))
    if DRIVE in folder.parents and not os.path.ismount(DRIVE):
        raise OSError(errno.ENODEV, "Google Drive is not mounted", str(DRIVE))


def fix_of(error: OSError, folder: Path) -> str:
    """Return the fix for a copy that cannot be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"Make room in {folder}."
    if DRIVE in folder.parents and error.errno in (errno.ENODEV, errno.ENOTCONN, errno.ENOENT):
        return MOUNT_DRIVE
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"Give yourself permission to write in {folder}."
    return f"Mount it again, or make {folder} writable."


def refusal(archive: str, runs: Path) -> Refusal | None:
    """Return rule, found value and fix if a run cannot be copied to a folder.

    The folder is made if it is missing. `runs` is the folder of runs.
    """
    try:
        folder = place(archive, Path.cwd())
    except RunError:
        return (
            "a folder below an existing home folder",
            archive,
            "Write the path in full, or set HOME.",
        )
    silent = f"{folder}, which has not answered for {ANSWER_SECONDS:g} s"
    found: list[Refusal | None] = []
    thread = threading.Thread(
        target=lambda: found.append(_refusal(folder, runs)), name="workbench-archive", daemon=True
    )
    thread.start()
    thread.join(ANSWER_SECONDS)  # do not wait for a thread that a dead mount blocks
    if not found:
        return "a folder that answers", silent, "Mount it again, or choose another one."
    return found[0]


def _refusal(folder: Path, runs: Path) -> Refusal | None:
    try:
        real = folder.resolve()
        if runs.resolve() in (real, *real.parents):
            rule = "a folder outside the folder of runs, so that it outlives them"
            return rule, str(folder), "Choose a folder of another disk, or of Drive."
        _try(folder)
    except OSError as error:
        got = f"{error.filename or folder}: {error.strerror or error}"
        return "a folder that can be created and written", got, fix_of(error, folder)
    return None


def _try(folder: Path) -> None:
    check_mounted(folder, mount_above(folder))
    folder.mkdir(parents=True, exist_ok=True)
    tried = folder / f".trying-{os.getpid()}-{secrets.token_hex(3)}"
    try:
        with tried.open("wb") as file:
            file.write(b"x")
            file.flush()
            os.fsync(file.fileno())
    finally:
        with contextlib.suppress(OSError):
            tried.unlink()
