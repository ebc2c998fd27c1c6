"""Programs of the engine that a run's own interpreter runs beside training."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import workbench

from .directory import RunError, read_json
from .failure import explain
from .launch import Launch

ENGINE = Path(workbench.__file__).parent / "engine"


def run_program(run_dir: Path, name: str, *arguments: str) -> dict[str, Any]:
    """Run `engine/NAME.py RUN_DIR ARGUMENTS` and return the line of JSON that it prints last.

    It takes the time it takes.

    Raises:
        RunError: the interpreter cannot be started, or the program fails.
    """
    launch = Launch.of(run_dir, read_json(run_dir / "run.json"), read_json(run_dir / "plan.json"))
    program = ENGINE / f"{name}.py"
    child = _run_child(launch, [str(program), str(run_dir.absolute()), *arguments])
    try:
        values = json.loads(child.stdout.strip().rpartition("\n")[2])
    except ValueError:
        values = None
    if child.returncode or not isinstance(values, dict):
        reason = explain(child.returncode, [], child.stderr, launch.interpreter)
        raise RunError(
            f"{program.name} prints one line of JSON; it failed: {reason['cause']} "
            f"{reason['fix']}\n{child.stderr[-2000:]}"
        )
    return values


def _run_child(launch: Launch, command: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            [launch.interpreter, "-u", *command],
            cwd=launch.working_dir,
            env=launch.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise RunError(
            f"A run's model and data are opened by its own interpreter; {launch.interpreter}: "
            f"{error.strerror}. Put that interpreter back."
        ) from error
