"""The real processes of runs of several tasks."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

from tests.engine.training import Trained

ASK = Path(__file__).parent / "ask_tasks.py"


def train_alone(trained: Trained) -> str:
    """Run a script as anybody would, without a supervisor, and return what it printed."""
    command = [sys.executable, "train.py", "--run-dir", str(trained.run.dir)]
    done = subprocess.run(command, cwd=trained.run.dir, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def answers(script: Path, configs: list[str]) -> list[str]:
    """Return what a script says to each TF_CONFIG."""
    done = subprocess.run(
        [sys.executable, ASK, script],
        input=json.dumps(configs),
        capture_output=True,
        text=True,
        check=True,
    )
    found: list[str] = json.loads(done.stdout.splitlines()[-1])
    return found


def tasks_of(script: Path) -> Iterator[tuple[str, psutil.Process]]:
    """Yield the living tasks of a script with their names; not the process that started them."""
    for process in psutil.process_iter(["cmdline"]):
        if str(script) not in (process.info["cmdline"] or ()):
            continue
        try:
            name = name_of(process)
        except psutil.Error:
            continue
        if name:
            yield name, process


def name_of(process: psutil.Process) -> str:
    """Return the name of a task; empty where it is none.

    The system tells the environment that a process was started with, of one that was forked its
    server's: that one is known by the log that it writes.
    """
    config: dict[str, Any] = json.loads(process.environ().get("TF_CONFIG", "{}"))
    if config:
        return f"{config['task']['type']}-{config['task']['index']}"
    logs = [Path(file.path) for file in process.open_files() if file.path.endswith("/log.txt")]
    return logs[0].parent.name if logs else ""


def task_of(script: Path, name: str) -> psutil.Process | None:
    """Return a task's process; None where it has none."""
    return dict(tasks_of(script)).get(name)
