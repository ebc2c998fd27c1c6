"""Programs of the engine besides training, started with a run's own interpreter."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from workbench.plan.plan import ONE_TASK
from workbench.runs.folder.files import RunError, StoppedError
from workbench.runs.folder.plan import read_plan
from workbench.runs.processes.environment import PACKAGE_ROOT, Launch
from workbench.runs.processes.forks import COLD
from workbench.runs.supervise.diagnosis import cannot_start

from .child import POLL_SECONDS, Child, Work, children, to_blame

_RUN = PACKAGE_ROOT / "workbench" / "engine" / "programs" / "run.py"
WITHOUT_TENSORFLOW = ("pins",)
"""Programs that need not wait for TensorFlow, because they do not import it."""
LONGEST_LOG = 2000
"""The most characters of a program's log in an error."""


def program(name: str, *arguments: str) -> list[str]:
    """Return the arguments of a Python that runs `engine/programs/NAME.py ARGUMENTS`."""
    return [str(_RUN), name, *arguments]


def work_on(run_dir: Path, name: str, *arguments: str, given: bytes | None = b"") -> Work:
    """Return the work of the run's interpreter for the program NAME with RUN_DIR ARGUMENTS.

    Raises:
        RunError: the run's files cannot be read.
    """
    command = program(name, str(run_dir.absolute()), *arguments)
    start = COLD if name in WITHOUT_TENSORFLOW else read_plan(run_dir).config.start
    return Work(Launch.of(run_dir), command, given=given, start=start)


def run_program(run_dir: Path, name: str, *arguments: str) -> dict[str, Any]:
    """Run the program NAME with RUN_DIR ARGUMENTS and return its last answer.

    There is no time limit.

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
    """Run such a program in a process for each task simultaneously; see `run_program`.

    If one fails, the others are ended, because they may wait for it forever. Once `stopped` returns
    true, all are ended.

    Raises:
        RunError: the interpreter cannot be started, there is no free port, or a program fails.
        StoppedError: `stopped` returned true.
    """
    work = work_on(run_dir, name, *arguments)
    try:
        with children(work, tasks, stopped=stopped) as started:
            while not _all_answered(started, name, work.launch.interpreter):
                if stopped():
                    raise stopped_error(name)
                time.sleep(POLL_SECONDS)
            return [child.answers[-1] for child in started]
    except OSError as error:
        raise not_started(error, work.launch.interpreter) from error


def stopped_error(name: str) -> StoppedError:
    """Return the error of a program that was ended on request."""
    return StoppedError(f"{name} was stopped before it had a result. Ask again.")


def not_started(error: OSError, interpreter: str) -> RunError:
    """Return the error of a program whose process could not be started."""
    if str(error.filename) == interpreter:
        return RunError(
            f"The run's own interpreter {interpreter} could not be started: {error.strerror}. Put "
            "that interpreter back."
        )
    return RunError(" ".join(cannot_start(error, interpreter).values()))


def failed_error(child: Child, rule: str, interpreter: str) -> RunError:
    """Return the error of a program that has failed; `rule` says what failed."""
    reason = child.explained(interpreter)
    why = f"{reason['cause']} {reason['fix']}\n{child.log[-LONGEST_LOG:]}"
    return RunError(f"{rule}: {why}")


def _all_answered(started: Sequence[Child], name: str, interpreter: str) -> bool:
    """Return whether all have ended successfully.

    Raises:
        RunError: a process has failed, or has ended without an answer.
    """
    rule = f"{name} failed"
    statuses = [child.poll() for child in started]
    if any(statuses):
        raise failed_error(to_blame(started), rule, interpreter)
    for child, status in zip(started, statuses, strict=True):
        if status == 0 and not child.answers:
            raise failed_error(child, rule, interpreter)
    return None not in statuses
