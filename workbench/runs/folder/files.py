"""The run folder: its place, its id, and how its small files are written and read."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.hosts import runs_home

RUN_VERSION = 1
FIRST_STEP = 1
"""The number of a run's first step for people and their code. In a run's files and arrays it is 0;
each reader that gives numbers to people adds this one."""
CARD = "run.json"
SCRIPT = "train.py"
REHEARSAL_FOLDER = "rehearsal"
"""The folder in a run's folder with the script of its rehearsal, until that went well."""
CERTIFICATE = "certificate.json"
KEPT_CODE = "own_code"
"""The folder of a run with copies of the user's own files that its script imports."""
KILL = "kill"
"""The file that asks the supervisor to kill the task that the file names."""
TASK = "worker-0"


class RunError(Exception):
    """A problem of a run: the message gives the rule, the value found, and the fix."""


class StoppedError(RunError):
    """Work on a run was given up after a stop request."""


def runs_root(runs_dir: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder of runs: `runs_dir`, else `$WORKBENCH_RUNS`, else the host's `runs`.

    The host's folder is `runs` in the working directory, except on Colab (`/content/runs`) and
    Kaggle (`/kaggle/working/runs`).
    """
    given = runs_dir or os.environ.get("WORKBENCH_RUNS") or runs_home() / "runs"
    return full_path(given)


def full_path(path: str | os.PathLike[str]) -> Path:
    """Return the absolute path of a path that may begin with ~.

    Raises:
        RunError: the path begins with ~ and there is no such home folder.
    """
    return expanded(path).absolute()


def expanded(path: str | os.PathLike[str]) -> Path:
    """Return a path with the home folder in place of a ~ at its beginning.

    Raises:
        RunError: there is no such home folder.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise RunError(
            f"There is no home folder for the ~ in {os.fspath(path)!r}. Write the path in full, "
            "or set HOME."
        ) from error


def new_id(root: Path) -> str:
    """Return an unused id in `root`, such as `20261103-142530-9f3c`; ids sort by the second."""
    while (root / (run_id := f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}")).exists():
        pass
    return run_id


def find_run(run: str | os.PathLike[str], runs_dir: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder of a run, given its id in `runs_dir` or its path.

    Raises:
        RunError: neither is a folder with a `run.json`.
    """
    root = runs_root(runs_dir)
    tried = [root / run, full_path(run)]
    for folder in tried:
        if holds_a_run(folder):
            return folder
    known = ", ".join(path.name for path in sorted(run_folders(root), reverse=True)[:3])
    raise RunError(
        f"No run {os.fspath(run)!r} in {root}. "
        + (f"Newest runs: {known}." if known else "Name the folder of runs as runs_dir.")
    )


def run_folders(root: Path) -> list[Path]:
    """Return the folders of complete runs under `root`; none if there is no such folder.

    Raises:
        RunError: the folder exists but cannot be read.
    """
    paths = [root / name for name in visible_names(root)]
    return [path for path in paths if holds_a_run(path)]


def holds_a_run(folder: Path) -> bool:
    """Return whether a folder has a run.json, or may have one that only its owner can see."""
    try:
        return (folder / CARD).is_file()
    except PermissionError:
        return True


def visible_names(root: Path) -> list[str]:
    """Return the names under `root` except hidden ones; none if there is no such folder.

    Raises:
        RunError: the folder exists but cannot be read.
    """
    try:
        return [path.name for path in os.scandir(root) if not path.name.startswith(".")]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RunError(
            f"The folder of runs {root} cannot be read: {error.strerror}. "
            "Choose another runs_dir (or WORKBENCH_RUNS)."
        ) from error


def make_folder(root: Path, run_id: str, texts: Mapping[str, str]) -> Path:
    """Write a new run folder with these files, all or nothing, and return its path.

    It gets its name only when it is complete, so no list ever shows half a run.

    Raises:
        RunError: the folder cannot be written, or the disk is full.
    """
    hidden = root / f".new-{run_id}"
    try:
        root.mkdir(parents=True, exist_ok=True)
        (hidden / TASK).mkdir(parents=True)
        for name, text in texts.items():
            (hidden / name).parent.mkdir(exist_ok=True)
            (hidden / name).write_text(text, encoding="utf-8")
        hidden.rename(root / run_id)
    except OSError as error:
        shutil.rmtree(hidden, ignore_errors=True)
        raise unwritable(root, error) from error
    return root / run_id


def unwritable(path: Path, error: OSError) -> RunError:
    """Return the error to raise if `path` could not be written."""
    return RunError(
        f"{path} cannot be written: {error.strerror or error}. Make room there or give yourself "
        "permission to write, or choose another runs_dir (or WORKBENCH_RUNS)."
    )


def write_text(path: Path, text: str) -> None:
    """Replace a file by a text in UTF-8; see `write_bytes`."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """Replace a file in one step, so that no reader ever sees half of it.

    Raises:
        RunError: the file cannot be written; the earlier file is unchanged.
    """
    hidden = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(2)}")
    try:
        with hidden.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        hidden.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            hidden.unlink()
        raise unwritable(path, error) from error


def json_text(values: Mapping[str, Any]) -> str:
    """Return JSON that people can read: indented, with a newline at its end."""
    text = json.dumps(values, indent=2, ensure_ascii=False) + "\n"
    # A lone surrogate, as in a file name that is not UTF-8, becomes its JSON escape.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object.

    Raises:
        RunError: the file is missing, unreadable or cut short.
    """
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        restore = "Restore the file from a copy, or delete the folder and start the run again."
        denied = isinstance(error, PermissionError)
        raise RunError(
            f"{path} cannot be read: {_short(error)}. "
            + ("Give yourself permission to read it." if denied else restore)
        ) from error
    if not isinstance(values, dict):
        raise RunError(
            f"{path} holds a {type(values).__name__} instead of a JSON object. "
            "Restore the file from a copy, or delete the folder and start the run again."
        )
    return values


def read_script(run_dir: Path) -> str:
    """Return the text of a run's train.py as it is now.

    Raises:
        RunError: the file is missing, unreadable, or not in UTF-8.
    """
    path = run_dir / SCRIPT
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise RunError(
            f"{path} cannot be read: {error}. Restore it from a copy, or start a new run."
        ) from error


def sha256(text: str) -> str:
    """Return the hexadecimal sha256 of a text in UTF-8."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _short(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
