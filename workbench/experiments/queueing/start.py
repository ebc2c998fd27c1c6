"""The start of a comparison: its request is checked and written, and its queue begins."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.runs import RunError
from workbench.runs.folder.files import json_text, runs_root, unwritable, write_text

from .comparison import DEVICES, Comparison, spawn
from .grid import Candidate
from .request import Request

if TYPE_CHECKING:
    from workbench.devices import Devices


def start_comparison(
    candidates: Sequence[Candidate],
    devices: Devices,
    runs_dir: str | os.PathLike[str] | None = None,
    *,
    repeats: int = 3,
    budget_seconds: float | None = None,
    target_accuracy: float | None = None,
    drop_below: float = 0.0,
    agreement: bool = False,
) -> Comparison:
    """Start to train candidates one after another, and return while that goes on by itself.

    In each round every candidate has one run. So changes on the machine affect all candidates
    alike.

    Args:
        candidates: see `grid.candidates`.
        devices: the devices that they were planned for.
        runs_dir: the folder of runs; None: `$WORKBENCH_RUNS`, else `runs`.
        repeats: runs of each; fewer than three give no interval.
        budget_seconds: the most seconds that all runs together may take. A run that would probably
            exceed the budget is not started. A run that exceeds it is stopped.
        target_accuracy: an accuracy for which the time to reach it is given.
        drop_below: a candidate whose runs had less than this share of the best's speed gets no
            more runs.
        agreement: whether the candidates are those of a matrix, see `cells.grid`.

    Raises:
        RunError: no candidate can be run, a number is out of its range, or the folder cannot be
            written.
    """
    _check(candidates, repeats, budget_seconds, target_accuracy, drop_below)
    kind = "matrix" if agreement else "compare"
    folder = runs_root(runs_dir) / time.strftime(f"{kind}-%Y%m%d-%H%M%S-{secrets.token_hex(2)}")
    request = Request(
        created=time.time(),
        repeats=repeats,
        budget_seconds=budget_seconds,
        target_accuracy=target_accuracy,
        drop_below=drop_below,
        candidates=tuple(candidates),
        agreement=agreement,
    )
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise unwritable(folder, error) from error
    write_text(folder / DEVICES, json_text(devices.to_json()))
    request.write(folder)
    spawn(folder)
    return Comparison(folder)


def _check(
    candidates: Sequence[Candidate],
    repeats: int,
    budget_seconds: float | None,
    target_accuracy: float | None,
    drop_below: float,
) -> None:
    if not any(not each.reason for each in candidates):
        reasons = "".join(f"\n  {each.label}: {each.reason}" for each in candidates)
        raise RunError(
            f"No candidate can run here:{reasons or ' none was given.'}\n"
            "Fix these problems, or choose other candidates."
        )
    rules: Mapping[str, tuple[bool, object, str, str]] = {
        "repeats": (repeats >= 1, repeats, "1 or more", "3 or more give intervals"),
        "budget_seconds": (
            *(budget_seconds is None or budget_seconds > 0, budget_seconds),
            *("above 0", "Leave it out for no limit"),
        ),
        "target_accuracy": (
            *(target_accuracy is None or 0 < target_accuracy <= 1, target_accuracy),
            *("above 0 and at most 1", "For 90 %, give 0.9"),
        ),
        "drop_below": (0 <= drop_below < 1, drop_below, "at least 0 and below 1", "0 drops none"),
    }
    for name, (holds, got, rule, fix) in rules.items():
        if not holds:
            raise RunError(f"{name} must be {rule}; received {got}. {fix}.")
