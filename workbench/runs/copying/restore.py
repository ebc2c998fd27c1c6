"""Restore of a run from its archive, or from any copy of its folder, to resume it here."""

from __future__ import annotations

import dataclasses
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from workbench.runs.folder import locks
from workbench.runs.folder.archive import MARK
from workbench.runs.folder.card import INTERPRETER_HERE, read_card
from workbench.runs.folder.checkpoints import FOLDER, STATE, Saved, state_text
from workbench.runs.folder.events import EventLog
from workbench.runs.folder.files import (
    CARD,
    SCRIPT,
    RunError,
    json_text,
    read_json,
    run_folders,
    unwritable,
)
from workbench.runs.folder.plan import PLAN, read_plan
from workbench.runs.folder.state import alive_error, is_alive

from .mirror import TEMPORARY
from .pack import unpack

NEEDED = (PLAN, SCRIPT)


def restore(source: Path, root: Path) -> Path:
    """Copy a run out of its archive into the folder of runs, completely or not at all.

    The source can also be any other copy of a run's folder, or a zip file that `pack` made. The run
    has its complete history and resumes from the newest checkpoint that is complete in the copy. It
    is `lost` if it was alive when its machine ended. A run restored from an archive is copied to
    that archive again.

    Returns:
        The folder of the run.

    Raises:
        RunError: the source holds no run or an incomplete run, the run is here already or is
            alive, or the folder of runs cannot be written.
    """
    if source.suffix != ".zip":
        return _restore(source, root, source)
    try:
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".unpacked-", dir=root) as place:
            return _restore(unpack(source, Path(place)), root, source)
    except FileNotFoundError as error:
        raise RunError(f"There is no packed run {source}. Upload it.") from error
    except OSError as error:
        raise unwritable(root, error) from error


def archived_folders(place: Path) -> list[Path]:
    """Return the run folders of a place: the place itself, or the runs below it, newest first.

    Raises:
        RunError: there is no run, or the card of a run cannot be read.
    """
    folders = [place] if (place / CARD).is_file() else run_folders(place)
    if not folders:
        raise RunError(
            f"There is no run to restore in {place}: neither it nor a folder in it holds a "
            "run.json. Name the folder that was given as archive; on Drive, mount Drive first."
        )
    return sorted(folders, key=lambda each: (read_card(each).created, each.name), reverse=True)


def _restore(source: Path, root: Path, came_from: Path) -> Path:
    run_id = _checked_id(source, root)
    hidden = root / f".new-{run_id}"
    try:
        root.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(hidden, ignore_errors=True)
        left_out = shutil.ignore_patterns(f"{TEMPORARY}*", MARK)
        shutil.copytree(source, hidden, ignore=left_out)
        _settle(hidden, source)
        EventLog(hidden / "events.jsonl").write("restored", folder=str(came_from))
        hidden.rename(root / run_id)
    except shutil.Error as error:
        shutil.rmtree(hidden, ignore_errors=True)
        raise RunError(
            f"{source} could not be copied completely: {error.args[0][0][2]}. Check that its disk "
            "answers and that there is room here, then try again."
        ) from error
    except OSError as error:
        shutil.rmtree(hidden, ignore_errors=True)
        raise unwritable(root, error) from error
    except RunError:
        shutil.rmtree(hidden, ignore_errors=True)
        raise
    return root / run_id


def _checked_id(source: Path, root: Path) -> str:
    """Check that a copy can be restored here, and return its id."""
    if not (source / CARD).is_file():
        below = ", ".join(folder.name for folder in archived_folders(source)[:3])
        raise RunError(f"{source} holds several runs. Name one of them, such as {below}.")
    run_id = read_card(source).made_as
    needed = (SCRIPT,) if read_json(source / CARD).get("by_hand") else NEEDED
    missing = [name for name in needed if not (source / name).is_file()]
    if missing or Path(run_id).name != run_id or run_id.startswith("."):
        got = f"no {', '.join(missing)}" if missing else f"the id {run_id!r}"
        raise RunError(
            f"{source} cannot be restored: it has {got}. A copy needs {', '.join(needed)}, and an "
            "id that can name a folder. Choose another copy, or complete this one."
        )
    if is_alive(source):
        raise alive_error(source, "restored")
    if (root / run_id).exists():
        raise RunError(
            f"{root / run_id} exists already, and restoring a run replaces nothing. Open that run, "
            "or delete it first."
        )
    return run_id


def _settle(folder: Path, source: Path) -> None:
    """Adapt a copy to this machine, with the newest checkpoint that arrived complete."""
    (folder / "stop").unlink(missing_ok=True)
    card = read_json(folder / CARD)
    card["state_dir"] = str(locks.state_dir())
    # The run's own interpreter may be made here later, such as the environment of a TPU runtime.
    card[INTERPRETER_HERE] = sys.executable
    _write(folder / CARD, card)
    if (source / MARK).exists():
        plan = read_plan(folder)
        config = dataclasses.replace(plan.config, archive=str(source.parent))
        _write(folder / PLAN, dataclasses.replace(plan, config=config).to_json())
    saved = Saved.read(folder / FOLDER)
    if saved is not None:
        state, whole = folder / FOLDER / STATE, saved.whole()
        if whole:
            state.write_text(state_text(whole), encoding="utf-8")
        else:
            state.unlink(missing_ok=True)


def _write(path: Path, values: dict[str, Any]) -> None:
    if json.loads(path.read_text(encoding="utf-8")) != values:
        path.write_text(json_text(values), encoding="utf-8")
