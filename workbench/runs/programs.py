"""Programs of the engine that a run's own interpreter runs beside training."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import workbench

from .directory import RunError, StoppedError, read_json
from .failure import cannot_start, explain
from .launch import Launch
from .tasks import ONE_TASK, NoAddressError, environments

_RUN = Path(workbench.__file__).parent / "engine" / "programs" / "run.py"
POLL_SECONDS = 0.1
"""How often it is asked whether to stop."""


def program(name: str, *arguments: str) -> list[str]:
    """Return what a Python is given to run `engine/programs/NAME.py ARGUMENTS`."""
    return ["-u", str(_RUN), name, *arguments]


def run_program(run_dir: Path, name: str, *arguments: str) -> dict[str, Any]:
    """Run the program NAME with RUN_DIR ARGUMENTS and return the line of JSON that it prints last.

    It takes the time it takes.

    Raises:
        RunError: the interpreter cannot be started, or the program fails.
    """
    (values,) = run_programs(run_dir, name, *arguments)
    return values


def run_programs(
    run_dir: Path,
    name: str,
    *arguments: str,
    tasks: Sequence[str] = ONE_TASK,
    stopped: Callable[[], bool] = lambda: False,
) -> list[dict[str, Any]]:
    """Run such a program in a process for each task at once; see `run_program`.

    Where one fails the others, which may wait for it for ever, are ended. Once `stopped` says so
    all are.

    Raises:
        RunError: the interpreter cannot be started, there is no free port, or a program fails.
        StoppedError: it was stopped.
    """
    launch = Launch.of(run_dir, read_json(run_dir / "run.json"), read_json(run_dir / "plan.json"))
    command = [launch.interpreter, *program(name, str(run_dir.absolute()), *arguments)]
    children: list[subprocess.Popen[str]] = []
    with ExitStack() as ports, ThreadPoolExecutor(len(tasks)) as pool:
        try:
            for variables in environments(tasks, ports).values():
                children.append(start_program(launch, command, variables))
            ends = {pool.submit(child.communicate): child for child in children}
            for end in _as_they_end(ends, name, stopped):
                if error := _failure(launch, name, ends[end], *end.result()):
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


def start_program(
    launch: Launch,
    command: Sequence[str],
    variables: Mapping[str, str],
    *,
    stdin: int = subprocess.DEVNULL,
    stderr: int | IO[str] = subprocess.PIPE,
) -> subprocess.Popen[str]:
    """Start one as the run's own processes are started.

    Raises:
        OSError: the interpreter cannot be started.
    """
    return subprocess.Popen(
        command,
        cwd=launch.working_dir,
        # No module of the engine, beside which a program lies, hides one of the user's.
        env={**launch.environment(), **variables, "PYTHONSAFEPATH": "1"},
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        errors="replace",
    )


def _as_they_end(
    ends: Iterable[Future[tuple[str, str]]], name: str, stopped: Callable[[], bool]
) -> Iterator[Future[tuple[str, str]]]:
    """Yield each as it ends.

    Raises:
        StoppedError: it was stopped before the last one.
    """
    left = set(ends)
    while left:
        ended, left = wait(left, POLL_SECONDS, FIRST_COMPLETED)
        yield from ended
        if left and stopped():
            raise stopped_error(name)


def stopped_error(name: str) -> StoppedError:
    """Return that a program was ended on request."""
    return StoppedError(f"{name} tells what it measured at its end; it was stopped. Ask again.")


def _failure(
    launch: Launch, name: str, child: subprocess.Popen[str], output: str, errors: str
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
        f"{name} prints one line of JSON; it failed: {reason['cause']} {reason['fix']}\n"
        f"{errors[-2000:]}"
    )


def _last_line(output: str) -> str:
    return output.strip().rpartition("\n")[2]
