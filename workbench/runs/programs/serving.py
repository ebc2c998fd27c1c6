"""A program of the engine that answers repeatedly, in a process for each task of a run."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from workbench.plan.plan import ONE_TASK

from .child import POLL_SECONDS, Child, children, to_blame
from .run import failed_error, not_started, stopped_error, work_on


class Served:
    """The processes of such a program: one question at a time, one answer from each process."""

    def __init__(
        self, name: str, interpreter: str, started: list[Child], stopped: Callable[[], bool]
    ) -> None:
        self._name, self._interpreter = name, interpreter
        self._children, self._stopped = started, stopped

    def first(self) -> list[dict[str, Any]]:
        """Return the first answer of each process, when it is ready; raises as `ask`."""
        return [self._answer(child) for child in self._children]

    def ask(self) -> list[dict[str, Any]]:
        """Ask all processes simultaneously, and return the answer of each.

        Raises:
            RunError: a process has ended.
            StoppedError: `stopped` returned true.
        """
        for child in self._children:
            child.say("again")  # an ended process is detected below
        return [self._answer(child) for child in self._children]

    def _answer(self, child: Child) -> dict[str, Any]:
        while True:
            ended = [each for each in self._children if each.poll() is not None]
            if child.answers:
                return child.answers.pop(0)
            if ended:
                failed = (
                    to_blame(self._children) if any(each.poll() for each in ended) else ended[0]
                )
                rule = f"{self._name} failed"
                raise failed_error(failed, rule, self._interpreter)
            if self._stopped():
                raise stopped_error(self._name)
            time.sleep(POLL_SECONDS)


@contextlib.contextmanager
def serving(
    run_dir: Path,
    name: str,
    *arguments: str,
    tasks: Sequence[str] = ONE_TASK,
    stopped: Callable[[], bool] = lambda: False,
) -> Iterator[Served]:
    """Start the program NAME with RUN_DIR ARGUMENTS for each task; end all after the block.

    Once `stopped` returns true, nothing waits for an answer.

    Raises:
        RunError: the interpreter cannot be started, or there is no free port.
        StoppedError: `stopped` returned true before all had started.
    """
    work = work_on(run_dir, name, *arguments, given=None)
    with contextlib.ExitStack() as stack:
        try:
            started = stack.enter_context(children(work, tasks, stopped=stopped))
        except OSError as error:
            raise not_started(error, work.launch.interpreter) from error
        yield Served(name, work.launch.interpreter, started, stopped)
