"""The card of a run, `run.json`: its creation time, id and name, and its processes' needs."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import locks
from .files import CARD, RUN_VERSION, RunError, read_json, sha256

MADE = "made_sha256"
"""In the card: the sha256 of the script as the workbench wrote it, before any edit by hand."""
INTERPRETER_HERE = "interpreter_here"
"""In the card of a restored run: the interpreter to use while its own does not exist here."""
MOST_CREATED = 2.5e11
"""The limit of a creation time in seconds since 1970: Python's calendar ends at year 9999."""


@dataclass(frozen=True)
class Card:
    """The values in a run's card."""

    made_as: str
    """The id with which the run was made; a copy under another name keeps it."""
    name: str
    """The name that the user gave the run; may be empty."""
    created: float
    """Seconds since 1970."""


def new_card(run_id: str, name: str, interpreter: str, script: str, made: str) -> dict[str, Any]:
    """Return the card of a new run; `made` is the sha256 that `MADE` names."""
    return {
        "version": RUN_VERSION,
        "id": run_id,
        "name": name,
        "created": time.time(),
        "script_sha256": sha256(script),
        "interpreter": interpreter,
        "working_dir": str(Path.cwd()),
        "state_dir": str(locks.state_dir()),
        MADE: made,
    }


def read_card(run_dir: Path) -> Card:
    """Read the card of a run.

    Raises:
        RunError: the card is missing or damaged, or its creation time is not in the calendar.
    """
    path = run_dir / CARD
    values = read_json(path)
    created = values.get("created") or 0.0
    if not isinstance(created, int | float) or not 0 <= created < MOST_CREATED:
        raise RunError(
            f"{path} has {created!r} as created, which is not a time in seconds since 1970. "
            "Restore the file from a copy, or fix the number."
        )
    made_as = str(values.get("id") or run_dir.absolute().name)
    return Card(made_as, str(values.get("name") or ""), float(created))
