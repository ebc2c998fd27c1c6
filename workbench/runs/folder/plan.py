"""Reading of the plan with which a run was started; its config is a part of it.

A script that was started by hand, under the observer alone, leaves no plan.json. Its plan is that
of the config which it carries. The first reader keeps it as plan.json.
"""

from __future__ import annotations

import contextlib
import dataclasses
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.plan.plan import Plan

from .files import (
    CARD,
    KEPT_CODE,
    SCRIPT,
    RunError,
    json_text,
    read_json,
    read_script,
    write_text,
)

if TYPE_CHECKING:
    from workbench.scripts import Opened


PLAN = "plan.json"
MOST_PLANS = 2000
"""The number of plans that are kept, so that a list of so many runs reads each plan once."""


def read_plan(run_dir: Path) -> Plan:
    """Read the plan of a run, or of its rehearsal.

    Raises:
        RunError: the plan.json is damaged, or was written by a release with other plan fields; or
            there is none, and the script carries no config.
    """
    for path in (run_dir / PLAN, run_dir / SCRIPT):
        try:
            found = path.stat()
        except FileNotFoundError:
            continue
        except OSError:
            break
        plan = _read(path, (found.st_ino, found.st_size, found.st_mtime_ns))
        if isinstance(plan, str):
            raise RunError(plan)
        return plan
    return Plan.from_json(read_json(run_dir / PLAN))  # which reports the error


def open_script(run_dir: Path) -> Opened:
    """Open the script of a run that was started by hand, with the files that it imports.

    Raises:
        ScriptError: it carries no config that this release can read.
        PlanError: this release cannot plan the config.
        RunError: it cannot be read.
    """
    from workbench.scripts import read_script as opened  # takes a moment, and few runs need it

    return opened(read_script(run_dir), folders=[run_dir / KEPT_CODE])


@lru_cache(MOST_PLANS)
def _read(path: Path, _state: tuple[int, ...]) -> Plan | str:
    """Read a plan.json, or a script, in a state: a file that was written again is read again.

    Returns the plan, or why there is none.
    """
    try:
        return _of_script(path.parent) if path.name == SCRIPT else Plan.from_json(read_json(path))
    except ValueError as error:
        return f"{path} {error}"


def _of_script(run_dir: Path) -> Plan | str:
    from workbench.config import ConfigError

    card, before = read_json(run_dir / CARD), read_script(run_dir)
    if not card.get("by_hand"):
        read_json(run_dir / PLAN)  # which reports that it is missing
    try:
        plan = open_script(run_dir).plan
    except ConfigError as error:
        return f"{run_dir.name} has no {PLAN}, and its {SCRIPT} does not tell the settings: {error}"
    plan = dataclasses.replace(plan, interpreter=str(card.get("interpreter") or plan.interpreter))
    with contextlib.suppress(RunError):  # the disk may be read only
        write_text(run_dir / PLAN, json_text(plan.to_json()))
    if read_script(run_dir) != before:  # it was started with another script meanwhile
        (run_dir / PLAN).unlink(missing_ok=True)
    return plan
