"""What makes the folder of a script that a person starts without a supervisor a run.

It gets a card, the script, and the files that the script imports from its own folder.
"""

import ast
import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import platform
import secrets
import sys
import time
from collections.abc import Iterator
from typing import Any

from .events import Events

RUN_VERSION = 1
SCRIPT, CARD, KEPT_CODE = "train.py", "run.json", "own_code"
LOOK_SECONDS = 0.3
"""How long it may take until another process has looked whether the run is alive."""
OF_THE_PLAN = ("plan.json", "config.json", "devices.json")
"""Files that the workbench adds, which do not hold for a changed script."""


def refuse(script: pathlib.Path, run_dir: pathlib.Path) -> None:
    """Refuse a folder that holds something else, which would be lost.

    Raises:
        SystemExit: it is a run that the workbench started, or holds another script.
    """
    kept, fix = run_dir / SCRIPT, "Name another folder as --run-dir"
    found = [name for name in (KEPT_CODE, *OF_THE_PLAN) if (run_dir / name).exists()]
    differs = kept.exists() and not holds(kept, script.read_bytes())
    card = read_card(run_dir)  # read last, because another task may make it and the files now
    if card and not card.get("by_hand"):
        sys.exit(f"{run_dir} is a run that the workbench started. {fix}, or resume it there.")
    if not card and differs:
        sys.exit(f"{run_dir} holds another script, {SCRIPT}. {fix}, or run that script.")
    if not card and found:
        sys.exit(f"{run_dir} holds {found[0]}, which is a name of a run's own file. {fix}.")


def read_card(run_dir: pathlib.Path) -> dict[str, Any]:
    """Return the card of a run; empty if there is none.

    Raises:
        SystemExit: it is damaged.
    """
    path = run_dir / CARD
    try:
        found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    except ValueError as error:
        sys.exit(f"{path} is damaged: {error}. Name another folder as --run-dir.")
    return found


def make_run(script: pathlib.Path, run_dir: pathlib.Path) -> Events:
    """Make a folder a run of this script, or of its present text; return the events of the run.

    Raises:
        SystemExit: the folder cannot be written.
    """
    text, made = script.read_bytes(), read_card(run_dir)
    files = {run_dir / KEPT_CODE / path.name: path.read_bytes() for path in modules_beside(script)}
    files[run_dir / SCRIPT] = text
    digest = hashlib.sha256(text).hexdigest()
    others = [path for path, content in files.items() if not holds(path, content)]
    outdated = ["stop"] if made else []
    if made and (others or made.get("script_sha256") != digest):
        made.pop("made_sha256", None)  # is of a script of the workbench
        outdated += OF_THE_PLAN
    try:
        values = {"version": RUN_VERSION, "id": run_dir.name, "created": time.time(), **made}
        values |= {"script_sha256": digest, "by_hand": True}
        values |= {"interpreter": sys.executable, "working_dir": str(pathlib.Path.cwd())}
        values["host"] = platform.node()
        put(run_dir / CARD, (json.dumps(values, indent=2) + "\n").encode())
        for path in others:
            path.parent.mkdir(exist_ok=True)
            put(path, files[path])
        for name in outdated:
            (run_dir / name).unlink(missing_ok=True)
    except OSError as error:
        sys.exit(
            f"{run_dir} cannot be written: {error.strerror}. Make room there or give yourself "
            "permission to write, or name another folder as --run-dir."
        )
    return Events(run_dir)


def holds(path: pathlib.Path, content: bytes) -> bool:
    """Return whether a file has this content."""
    return path.exists() and path.read_bytes() == content


def put(path: pathlib.Path, content: bytes) -> None:
    """Replace a file in one step, so that nobody reads a part of it."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        part.write_bytes(content)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def modules_beside(script: pathlib.Path) -> Iterator[pathlib.Path]:
    """Yield the files in the folder of a script that it imports, also by others of them."""
    found, left = {script}, [script]
    while left:
        for path in imported(left.pop()):
            if path not in found:
                found.add(path)
                left.append(path)
                yield path


def imported(module: pathlib.Path) -> Iterator[pathlib.Path]:
    """Yield the files beside a module that it imports by their names."""
    with contextlib.suppress(SyntaxError, ValueError):
        for node in ast.walk(ast.parse(module.read_bytes())):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            paths = [module.with_name(f"{name.partition('.')[0]}.py") for name in names]
            yield from filter(pathlib.Path.is_file, paths)


def hold(task: pathlib.Path) -> None:
    """Lock the folder of a task until this process ends, so that the run is alive that long.

    Raises:
        SystemExit: another process holds it.
    """
    until = time.monotonic() + LOOK_SECONDS  # who asks whether the run is alive locks it, too
    try:
        opened = os.open(task / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        held = [opened]
        os.register_at_fork(after_in_child=lambda: os.close(held.pop()) if held else None)
        while not locked(opened) and time.monotonic() < until:
            time.sleep(0.01)
        if not locked(opened):
            sys.exit(
                f"Another process records in {task}. Wait for its end, or name another folder as "
                "--run-dir."
            )
    except OSError as error:
        why = f"{task} cannot be locked: {error.strerror}."
        print(f"{why} Lists may show this run as lost while it trains.", flush=True)


def locked(opened: int) -> bool:
    """Lock an open file, or keep it locked; return False if another process has locked it."""
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False
