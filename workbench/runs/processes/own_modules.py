"""The user's own files and modules that a run imports, and their changes between attempts.

A file that was given as `file.py:function` is copied when the run begins. It is imported from its
own folder, where it finds what lies beside it; once it differs from the copy or is gone, the copy
is imported. A module that was given as `module:function` is imported as it is in each attempt.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.runs.folder.events import Event
from workbench.runs.folder.files import KEPT_CODE, RunError

if TYPE_CHECKING:
    from workbench.plan import Plan

HASHES = "modules_sha256"
"""A field of the event that starts an attempt: the sha256 of each module's file, by its name."""
KEPT = "kept_files"
"""A field of the same event: the user's files for which the attempt imports the kept copies."""


def module_folders(plan: Plan, working_dir: Path, run_dir: Path | None = None) -> tuple[Path, ...]:
    """Return the folders in which a run looks for the user's modules.

    `run_dir` is None for a script that belongs to no run.
    """
    kept = () if run_dir is None or not (run_dir / KEPT_CODE).is_dir() else (run_dir / KEPT_CODE,)
    if not plan.own_functions:
        return kept
    folders = dict.fromkeys(path.parent for path in own_files(plan))
    are_changed = run_dir is not None and changed_files(plan, run_dir)
    files = (*kept, *folders) if are_changed else (*folders, *kept)
    return (*files, working_dir)


def own_files(plan: Plan) -> list[Path]:
    """Return the files that were given as `file.py:function`, each once."""
    files = (
        Path(each.folder, f"{each.module}.py")
        for each in plan.own_functions.values()
        if each.module and each.folder
    )
    return list(dict.fromkeys(files))


def keep_files(plan: Plan, run_dir: Path) -> None:
    """Copy the user's files into a new run's folder.

    Raises:
        RunError: a file cannot be read or written.
    """
    for path in own_files(plan):
        try:
            (run_dir / KEPT_CODE).mkdir(exist_ok=True)
            shutil.copyfile(path, run_dir / KEPT_CODE / path.name)
        except OSError as error:
            fix = "Make both readable and writable, then start again."
            raise RunError(f"{path} cannot be copied into {run_dir}: {error}. {fix}") from error


def changed_files(plan: Plan, run_dir: Path) -> list[str]:
    """Return the user's files that differ from their copies in the run's folder, or are gone."""
    return [str(path) for path in own_files(plan) if _differs(path, run_dir / KEPT_CODE)]


def module_hashes(plan: Plan, working_dir: Path) -> dict[str, Any]:
    """Return `HASHES` with the sha256 of each module of a plan that is imported.

    A module that is installed or cannot be read is left out. If it cannot be read, its import
    fails too and gives the reason.
    """
    hashes = dict[str, str]()
    for each in plan.own_functions.values():
        if each.module is None:
            continue
        if each.source is not None:
            hashes[each.module] = hashlib.sha256(each.source.encode()).hexdigest()
            continue
        from workbench.plan.own_function import module_file  # takes a moment, and few runs need it

        with contextlib.suppress(OSError):
            if file := module_file(each.module, working_dir):
                hashes[each.module] = hashlib.sha256(file.read_bytes()).hexdigest()
    return {HASHES: hashes} if hashes else {}


def newest_hash(events: Sequence[Event], module: str) -> str | None:
    """Return the sha256 of a module's file in the newest attempt, from a supervisor's events."""
    found = [event[HASHES][module] for event in events if module in event.get(HASHES, {})]
    return found[-1] if found else None


def changes_in(events: Sequence[Event]) -> str:
    """Return in words what changed of the user's own code, from a supervisor's events."""
    known, changed = dict[str, str](), dict[str, float]()
    kept = list[str]()
    for event in events:
        kept = event.get(KEPT, kept if HASHES not in event else [])
        for module, found in event.get(HASHES, {}).items():
            if known.setdefault(module, found) != found:
                changed[module] = event["time"]
            known[module] = found
    words = [
        f"The source of {module} changed between two attempts; since "
        f"{datetime.fromtimestamp(at):%Y-%m-%d %H:%M} the run trains with the new one."
        for module, at in sorted(changed.items())
    ]
    words += [
        f"{path} has changed or is gone since the run began; the run trains with its copy in "
        f"{KEPT_CODE}. To train with the new file, start a new run."
        for path in kept
    ]
    return " ".join(words)


def _differs(path: Path, kept: Path) -> bool:
    try:
        return path.read_bytes() != (kept / path.name).read_bytes()
    except OSError:
        return (kept / path.name).exists()
