"""The user's own modules that a run imports, and their changes between attempts.

Code that is lifted from a file is part of the script and stays the same. A module is different:
each attempt imports it again.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from workbench.runs.folder.events import Event

HASHES = "modules_sha256"
"""A field of the event that starts an attempt: the sha256 of each module's file, by its name."""


def module_hashes(plan: Mapping[str, Any], working_dir: Path) -> dict[str, Any]:
    """Return `HASHES` with the sha256 of each module of a plan.json that is imported from a folder.

    A module that is installed or cannot be read is left out. If it cannot be read, its import
    fails too and gives the reason.
    """
    own = [plan.get(name) or {} for name in ("own_model", "own_data", "own_step")]
    modules = [each["module"] for each in own if each.get("module")]
    hashes = dict[str, str]()
    for module in modules:
        from workbench.plan.own_function import module_file  # takes a moment, and few runs need it

        with contextlib.suppress(OSError):
            if file := module_file(module, working_dir):
                hashes[module] = hashlib.sha256(file.read_bytes()).hexdigest()
    return {HASHES: hashes} if hashes else {}


def newest_hash(events: Sequence[Event], module: str) -> str | None:
    """Return the sha256 of a module's file in the newest attempt, from a supervisor's events."""
    found = [event[HASHES][module] for event in events if module in event.get(HASHES, {})]
    return found[-1] if found else None


def changes_in(events: Sequence[Event]) -> str:
    """Return in words which modules changed last, from a supervisor's events; empty if none."""
    known, changed = dict[str, str](), dict[str, float]()
    for event in events:
        for module, found in event.get(HASHES, {}).items():
            if known.setdefault(module, found) != found:
                changed[module] = event["time"]
            known[module] = found
    return " ".join(
        f"The source of {module} changed between two attempts; since "
        f"{datetime.fromtimestamp(at):%Y-%m-%d %H:%M} the run trains with the new one."
        for module, at in sorted(changed.items())
    )
