"""Programs of the engine that a run's own interpreter runs beside training."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import workbench

from .directory import RunError, read_json
from .failure import cannot_start, explain
from .launch import Launch
from .tasks import ONE_TASK, NoAddressError, environments

ENGINE = Path(workbench.__file__).parent / "engine"


def run_program(run_dir: Path, name: str, *arguments: str) -> dict[str, Any]:
    """Run `engine/NAME.py RUN_DIR ARGUMENTS` and return the line of JSON that it prints last.

    It takes the time it takes.

    Raises:
        RunError: the interpreter cannot be started, or the program fails.
    """
    (values,) = run_programs(run_dir, name, *arguments)
    return values


def run_programs(
    run_dir: Path, name: str, *arguments: str, tasks: Sequence[str] = ONE_TASK
) -> list[dict[str, Any]]:
    """Run such a program in a process for each task at once; see `run_program`.

    Where one fails the others, which may wait for it for ever, are ended.

    Raises:
        RunError: the interpreter cannot be started, there is no free port, or a program fails.
    """
    launch = Launch.of(run_dir, read_json(run_dir / "run.json"), read_json(run_dir / "plan.json"))
    program = ENGINE / f"{name}.py"
    command = [launch.interpreter, "-u", str(program), str(run_dir.absolute()), *arguments]
    children: list[subprocess.Popen[str]] = []
    with ExitStack() as ports, ThreadPoolExecutor(len(tasks)) as pool:
        try:
            for variables in environments(tasks, ports).values():
                children.append(_start(launch, command, variables))
            ends = {pool.submit(child.communicate): child for child in children}
            for end in as_completed(ends):
                if error := _failure(launch, program, ends[end], *end.result()):
                    raise error
        except NoAddressError as none_free:
            raise RunError(" ".join(cannot_start(none_free, launch.interpreter).values())) from None
        except OSError as unstarted:
            raise RunError(
                f"A run's model and data are opened by its own interpreter; {launch.interpreter}: "
                f"{unstarted.strerror}. Put that interpreter back."
            ) from unstarted
        finally:
            for child in children:
                child.kill()
    return [json.loads(_last_line(end.result()[0])) for end in ends]


def _start(
    launch: Launch, command: Sequence[str], variables: Mapping[str, str]
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command,
        cwd=launch.working_dir,
        # No module of the engine, beside which a program lies, hides one of the user's.
        env={**launch.environment(), **variables, "PYTHONSAFEPATH": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )


def _failure(
    launch: Launch, program: Path, child: subprocess.Popen[str], output: str, errors: str
) -> RunError | None:
    """Return why a program that has ended has not told what it should; None where it has."""
    try:
        told = isinstance(json.loads(_last_line(output)), dict)
    except ValueError:
        told = False
    if told and not child.returncode:
        return None
    reason = explain(child.returncode, [], errors, launch.interpreter)
    return RunError(
        f"{program.name} prints one line of JSON; it failed: {reason['cause']} {reason['fix']}\n"
        f"{errors[-2000:]}"
    )


def _last_line(output: str) -> str:
    return output.strip().rpartition("\n")[2]
