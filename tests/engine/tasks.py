"""The processes of real runs of several tasks."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

from tests.engine.training import Trained
from tests.forked import run_program
from workbench.runs.processes.own_modules import own_files

ASK = Path(__file__).parent / "ask_tasks.py"


def train_alone(trained: Trained) -> str:
    """Run a script without a supervisor, as a user can, and return its output.

    The user's own files are beside it, as a user has to put them.
    """
    folder = trained.run.dir
    for path in own_files(trained.plan.to_json()):
        shutil.copy(path, folder)
    command = [folder / "train.py", "--run-dir", folder]
    return run_program(command, folder, legacy=trained.legacy).stdout


def replies(script: Path, configs: list[str]) -> list[str]:
    """Return the reply of a script to each TF_CONFIG."""
    done = run_program([ASK, script], given=json.dumps(configs))
    found: list[str] = json.loads(done.stdout.splitlines()[-1])
    return found


def tasks_of(script: Path) -> Iterator[tuple[str, psutil.Process]]:
    """Yield the live tasks of a script with their names, without the process that started them."""
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
    """Return the name of a task; empty if the process is no task.

    The system gives the environment at the start of a process; for a forked process this is the
    environment of its server. So the log that a forked process writes identifies it.
    """
    config: dict[str, Any] = json.loads(process.environ().get("TF_CONFIG", "{}"))
    if config:
        return f"{config['task']['type']}-{config['task']['index']}"
    logs = [Path(file.path) for file in process.open_files() if file.path.endswith("/log.txt")]
    return logs[0].parent.name if logs else ""


def task_of(script: Path, name: str) -> psutil.Process | None:
    """Return the process of a task; None if it has none."""
    return dict(tasks_of(script)).get(name)
