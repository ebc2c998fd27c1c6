"""A program of the engine that answers again and again, in a process for each task of a run."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from workbench.runs.folder.tasks import ONE_TASK

from .child import POLL_SECONDS, Child, children, to_blame
from .run import failed_error, not_started, stopped_error, work_on


class Served:
    """The processes of such a program: one question at a time, an answer of each."""

    def __init__(
        self, name: str, interpreter: str, started: list[Child], stopped: Callable[[], bool]
    ) -> None:
        self._name, self._interpreter = name, interpreter
        self._children, self._stopped = started, stopped

    def first(self) -> list[dict[str, Any]]:
        """Return what each says when it is ready; raises as `ask`."""
        return [self._answer(child) for child in self._children]

    def ask(self) -> list[dict[str, Any]]:
        """Ask all at once, and return the answer of each.

        Raises:
            RunError: one has ended.
            StoppedError: it was stopped.
        """
        for child in self._children:
            child.say("again")  # one that has ended is found out below
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
                rule = f"{self._name} answers until it is ended"
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
    """Start the program NAME with RUN_DIR ARGUMENTS for each task; end all when the block is left.

    Once `stopped` says so no answer is waited for.

    Raises:
        RunError: the interpreter cannot be started, or there is no free port.
        StoppedError: `stopped` said so before all had started.
    """
    work = work_on(run_dir, name, *arguments, given=None)
    with contextlib.ExitStack() as stack:
        try:
            started = stack.enter_context(children(work, tasks, stopped=stopped))
        except OSError as error:
            raise not_started(error, work.launch.interpreter) from error
        yield Served(name, work.launch.interpreter, started, stopped)
