"""Scripts under observation, and what is recorded of them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from tests.forked import run_program
from workbench.observe import __main__ as observer

SCRIPTS = Path(__file__).parent / "scripts"
LOOP = SCRIPTS / "loop.py"
OBSERVER = Path(observer.__file__)
STEPS, PER_REPLICA = 18, 8
"""Of LOOP: its steps, and a replica's examples in each."""
Done = subprocess.CompletedProcess[str]


def observe(
    script: Path, folder: Path, *arguments: object, stop: bool = False, **options: Any
) -> Done:
    """Run a script with its run folder as first argument; `stop` asks it to stop at once."""
    folder.mkdir(exist_ok=True)
    asked = {"environment": {"WORKBENCH_STOP_FD": "0"}, "given": "s"} if stop else {}
    words = [OBSERVER, "--run-dir", folder, script, folder, *arguments]
    return run_program(words, **asked, **options)


def losses(folder: Path) -> np.ndarray[Any, Any]:
    """Return what was recorded of LOOP: the sum of the losses of each step of each replica."""
    rows = np.fromfile(folder / "worker-0" / "steps.f4", np.float32).reshape(-1, 2, 3)
    assert (rows[..., 2] == PER_REPLICA).all()
    return rows[..., 0]


def events(folder: Path, name: str, task: str = "worker-0") -> list[dict[str, Any]]:
    """Return the events of this name that a task reported."""
    lines = (folder / task / "events.jsonl").read_text().splitlines()
    return [event for event in map(json.loads, lines) if event["event"] == name]
