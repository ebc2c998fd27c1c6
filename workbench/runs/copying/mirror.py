"""The copy of a run in its archive, updated in an order from which the run can always resume.

Files that only grow are extended by their new content. All other files are written under another
name and then renamed, so no one ever reads half of a file. A checkpoint is named in the copy only
when all its files are there. Records from before a checkpoint are copied before it.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import zipfile
from collections.abc import Iterator
from pathlib import Path

from workbench.runs.folder.archive import MARK, check_mounted, mount_above
from workbench.runs.folder.checkpoints import FOLDER, STATE, Saved, saves_in, state_text
from workbench.runs.folder.events import read_events
from workbench.runs.folder.files import CARD, KEPT_CODE, KILL, SCRIPT, RunError, json_text
from workbench.runs.folder.plan import read_plan
from workbench.runs.folder.state import LOCK

GROWING = ("events.jsonl", "archive.jsonl", "log.txt", "supervisor.log", "updates")
RECORDS = (".f4", ".f8", ".steps", ".steps64", ".calls")
"""The endings of records; the last three are those of earlier releases."""
PASSING = ("stop", KILL, "entered", LOCK, MARK)
"""Files about this moment or this place only; they are not copied."""
TEMPORARY = ".copying-"
PIECE_BYTES = 2**20
COMPARED_BYTES = 2**12


class GoneError(Exception):
    """The run's own folder no longer exists."""


class Mirror:
    """The copy of one run; `update` updates it and can be called again after a failure.

    It remembers the copied files, so an unchanged file costs only a check on the local disk.
    """

    def __init__(self, run_dir: Path, folder: Path) -> None:
        """Prepare the copy of the run in `run_dir`; `folder` is the copy's own folder."""
        self.run_dir, self.folder = run_dir, folder
        self._mount: Path | None = None
        self._copied: dict[Path, tuple[int, int]] = {}
        """Size and modification time of each copied file."""

    def update(self) -> int:
        """Copy new content; return the step from which the copy can resume, 0 for the beginning.

        Raises:
            OSError: the copy cannot be written.
            RunError: a file of the run itself is damaged.
            GoneError: the run was deleted.
        """
        try:
            return self._update()
        except (OSError, RunError):
            self._copied.clear()
            if not (self.run_dir / CARD).exists():
                raise GoneError from None
            raise

    def _update(self) -> int:
        self._mount = self._mount or mount_above(self.folder)
        check_mounted(self.folder, self._mount)
        if not (self.folder / CARD).exists():
            self._begin()
        step = self._saved_step()
        saved = Saved.read(self.run_dir / FOLDER)
        for path in files_in_order(self.run_dir):
            self._copy(path)
        self._forget_records()
        if saved is not None:
            self._copy_checkpoints(saved)
        return step

    def _begin(self) -> None:
        self._copied.clear()
        self.folder.mkdir(parents=True, exist_ok=True)
        for left in self.folder.rglob(f"{TEMPORARY}*"):
            left.unlink(missing_ok=True)
        mark = {"version": 1, "run_dir": str(self.run_dir)}
        _write(self.folder / MARK, [json_text(mark).encode()])

    def _saved_step(self) -> int:
        events = read_events(self.run_dir / read_plan(self.run_dir).leader / "events.jsonl")
        return max((int(event.get("step", 0)) for event in saves_in(events)), default=0)

    def _copy(self, path: Path) -> None:
        """Copy a file if it changed; a file that changes during the copy waits for the next one."""
        try:
            before = _state_of(path)
        except FileNotFoundError:
            return
        if self._copied.get(path) == before or not _may_be_whole(path):
            return
        copy = self.folder / path.relative_to(self.run_dir)
        copy.parent.mkdir(exist_ok=True)
        if not _grows(path):
            if not _same(before, copy) and not _replace(path, copy, before):
                return
        elif not _extend(path, copy):
            return
        self._copied[path] = before

    def _copy_checkpoints(self, saved: Saved) -> None:
        names = saved.whole()
        if not names or names[-1] != saved.names[-1]:
            return
        for name in names:
            for path in saved.files(name):
                self._copy(path)
        copy = Saved(self.folder / FOLDER, tuple(names))
        if names[-1] not in copy.whole():
            return
        text, state = state_text(copy.whole()), copy.folder / STATE
        if not state.exists() or state.read_text(encoding="utf-8") != text:
            _write(state, [text.encode()])
        for path in copy.folder.iterdir():
            if path.stem not in names and path.name != STATE:
                path.unlink(missing_ok=True)

    def _forget_records(self) -> None:
        """Remove copies of records that the run itself removed."""
        for task in _tasks(self.run_dir):
            there = {path.name for path in task.iterdir()}
            for path in (self.folder / task.name).glob("*-*.*"):
                if path.suffix in RECORDS and path.name not in there:
                    path.unlink(missing_ok=True)


def files_in_order(run_dir: Path) -> list[Path]:
    """Return a run's files except checkpoints; a file that refers to others comes before them."""
    kept = [folder for folder in (run_dir / KEPT_CODE,) if folder.is_dir()]
    folders = (run_dir, *kept, *_tasks(run_dir))
    return sorted((file for folder in folders for file in _files(folder)), key=_rank)


def _tasks(run_dir: Path) -> list[Path]:
    return [path for path in run_dir.glob("*-[0-9]*") if path.is_dir()]


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.is_file() and not path.name.startswith(".") and path.name not in PASSING:
            yield path


def _rank(path: Path) -> tuple[int, str]:
    """Return the order of a file: events, then the records they refer to; the card comes last."""
    kinds = [path.name == "events.jsonl", path.suffix in RECORDS, path.name != CARD, True]
    return kinds.index(True), str(path)


def _grows(path: Path) -> bool:
    return path.name in GROWING or path.suffix in RECORDS


def _may_be_whole(path: Path) -> bool:
    """Return whether a model is complete: it is a zip file, with its directory at its end."""
    return path.suffix != ".keras" or zipfile.is_zipfile(path)


def _state_of(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def _same(state: tuple[int, int], copy: Path) -> bool:
    """Return whether a copy is of this state, by its size and its modification time."""
    try:
        found = copy.stat()
    except FileNotFoundError:
        return False
    return found.st_size == state[0] and abs(found.st_mtime_ns - state[1]) < 10**6


def _replace(path: Path, copy: Path, before: tuple[int, int]) -> bool:
    """Write a copy again; return whether the file stayed unchanged during the copy."""
    try:
        source = path.open("rb")
    except FileNotFoundError:
        return False
    with source:
        hidden = _write_hidden(copy, iter(lambda: source.read(PIECE_BYTES), b""))
    try:
        whole = path.exists() and _state_of(path) == before
        if whole:
            _set_aside(path, copy)
            with contextlib.suppress(OSError):  # if times cannot be set, it is copied once more
                os.utime(hidden, ns=(before[1], before[1]))
            hidden.replace(copy)
        return whole
    finally:
        hidden.unlink(missing_ok=True)


def _set_aside(path: Path, copy: Path) -> None:
    """Keep a copied script whose text the run does not have: a person edited it in the archive."""
    if path.name != SCRIPT or not copy.exists():
        return
    text = copy.read_bytes()
    held = (path, *path.parent.glob("train-*.py"), *copy.parent.glob("train-edited-*.py"))
    if text not in [each.read_bytes() for each in held]:
        number = 1 + len(list(copy.parent.glob("train-edited-*.py")))
        copy.rename(copy.with_name(f"train-edited-{number}.py"))


def _extend(path: Path, copy: Path) -> bool:
    """Append the new content of a file to its copy; return False if the file is missing."""
    try:
        source = path.open("rb")
    except FileNotFoundError:
        return False
    fd = os.open(copy, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        with source:
            held = os.fstat(fd).st_size
            if not _begins_alike(source.fileno(), fd, held):
                held = 0
                os.ftruncate(fd, 0)
            source.seek(held)
            while piece := source.read(PIECE_BYTES):
                held += _put(fd, piece, held)
            os.fsync(fd)
    finally:
        os.close(fd)
    return True


def _begins_alike(source: int, copy: int, size: int) -> bool:
    """Return whether the end of a copy of this size equals the same part of its file."""
    start = max(0, size - COMPARED_BYTES)
    return os.pread(source, size - start, start) == os.pread(copy, size - start, start)


def _put(fd: int, piece: bytes, at: int) -> int:
    """Write all of a piece at a position; two writers of the same piece there do no harm."""
    done = 0
    while done < len(piece):
        done += os.pwrite(fd, piece[done:], at + done)
    return done


def _write(copy: Path, pieces: list[bytes]) -> None:
    copy.parent.mkdir(exist_ok=True)
    hidden = _write_hidden(copy, iter(pieces))
    try:
        hidden.replace(copy)
    finally:
        hidden.unlink(missing_ok=True)


def _write_hidden(copy: Path, pieces: Iterator[bytes]) -> Path:
    """Write a hidden file next to a copy, and return its path when it is on disk."""
    hidden = copy.with_name(f"{TEMPORARY}{os.getpid()}-{secrets.token_hex(3)}")
    try:
        with hidden.open("wb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        with contextlib.suppress(OSError):
            hidden.unlink()
        raise
    return hidden
