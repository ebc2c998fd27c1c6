"""The card of a run, `run.json`: when and as what it was made, and what its processes need."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import locks
from .files import RUN_VERSION, RunError, read_json, sha256

CARD = "run.json"
MADE = "made_sha256"
"""In the card: the sha256 of the script that the workbench wrote, before any edit by hand."""
MOST_CREATED = 2.5e11
"""Seconds since 1970, within the years up to 9999 that Python's calendar has."""


@dataclass(frozen=True)
class Card:
    """What a run's card says of it."""

    made_as: str
    """The id that the run was made with; a copy under another name keeps it."""
    name: str
    """As a person named the run; may be empty."""
    created: float
    """Seconds since 1970."""


def new_card(run_id: str, name: str, interpreter: str, script: str, made: str) -> dict[str, Any]:
    """Return the card of a run that is made now; `made` is the sha256 that `MADE` names."""
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
        RunError: it is missing or torn, or its time of creation is none that a calendar has.
    """
    path = run_dir / CARD
    values = read_json(path)
    created = values.get("created") or 0.0
    if not isinstance(created, int | float) or not 0 <= created < MOST_CREATED:
        raise RunError(
            f"created of a run is its time in seconds since 1970; {path} has {created!r}. "
            "Restore the file from a copy, or mend the number."
        )
    made_as = str(values.get("id") or run_dir.absolute().name)
    return Card(made_as, str(values.get("name") or ""), float(created))
