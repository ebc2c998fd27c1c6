"""Reading of the plan with which a run was started; its config is a part of it."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from workbench.plan.plan import Plan

from .files import RunError, read_json

PLAN = "plan.json"
MOST_PLANS = 2000
"""The number of plans that are kept, so that a list of so many runs reads each plan once."""


def read_plan(run_dir: Path) -> Plan:
    """Read the plan.json of a run, or of its rehearsal.

    Raises:
        RunError: the file is damaged, or was written by a release with other plan fields.
    """
    path = run_dir / PLAN
    try:
        found = path.stat()
    except OSError:
        return _read.__wrapped__(path, ())  # which reports the error
    return _read(path, (found.st_ino, found.st_size, found.st_mtime_ns))


@lru_cache(MOST_PLANS)
def _read(path: Path, _state: tuple[int, ...]) -> Plan:
    """Read a plan.json in a state: a file that was written again is read again."""
    try:
        return Plan.from_json(read_json(path))
    except ValueError as error:
        raise RunError(f"{path} {error}") from error
