"""Processes of programs besides training: how they start, their answers, how they end."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from workbench.devices.tpu_build import WITHOUT_TPU
from workbench.forking import Order
from workbench.plan.plan import ONE_TASK
from workbench.runs.folder.files import RunError, StoppedError
from workbench.runs.folder.locks import state_dir
from workbench.runs.folder.logs import is_from_tensorflow, log_tail
from workbench.runs.folder.tasks import environments
from workbench.runs.processes.environment import Launch
from workbench.runs.processes.forks import COLD, Forks
from workbench.runs.processes.peak_memory import peak_bytes_of
from workbench.runs.supervise.diagnosis import explain, follows_another

ON_CPU = {**WITHOUT_TPU, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
"""The environment of a process that must not take a device."""
POLL_SECONDS = 0.05
LOADING_SECONDS = 0.2
"""The seconds between two checks whether TensorFlow has been loaded."""
OTHERS_SECONDS = 2.0
"""How long the others may take to end after the first: one of them may know the cause."""
LOG_LINES = 200
_ADDED = re.compile(r"\s*(?:Arguments received by |•|\[\[\{\{node )")
"""The lines below the reason of an error: Keras adds a layer's arguments, TensorFlow the node."""
READ_BYTES = 65_536
MOST_READS = 64
"""In one poll: a process that prints without end must not delay the caller."""
LONGEST_LINE = 64 * 2**20


@dataclass(frozen=True)
class Work:
    """A program that a process must run."""

    launch: Launch
    arguments: Sequence[str]
    """A script and its own arguments."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables in addition to the usual ones of a run; TensorFlow may be imported already."""
    given: bytes | None = b""
    """Its input; None: the lines of `Child.say`, until it is ended."""
    start: Any = None
    """As in a config: `cold` if nothing must be forked."""


class Child:
    """A process that answers in lines of JSON objects; its other output is ignored."""

    def __init__(self, work: Work, log: Path, forks: Forks) -> None:
        """Start the process, forked if possible.

        Raises:
            OSError: the interpreter cannot be started, or a file for it cannot be written.
        """
        self.answers: list[dict[str, Any]] = []
        self._log, self._line = log, bytearray()
        self._status: int | None = None
        self._input: int | None = None
        self._ours = contextlib.ExitStack()
        try:
            with (
                self._pipe(ours=0) as (self._output, output),
                self._pipe(ours=1) as (alive, _),
                self._given(work.given) as given,
                log.open("wb") as errors,
            ):
                order = Order(
                    work.arguments,
                    work.launch.working_dir,
                    # Modules of the engine, next to the program, must not hide the user's modules.
                    {**work.launch.environment(), **work.environment, "PYTHONSAFEPATH": "1"},
                    (given, output, errors.fileno()),
                    (alive,),
                    {"WORKBENCH_ASKER_FD": alive},
                )
                self._process = forks.begin(order)
        except BaseException:
            self._ours.close()
            raise
        os.set_blocking(self._output, False)

    @contextlib.contextmanager
    def _pipe(self, ours: int) -> Iterator[tuple[int, int]]:
        """Yield a pipe: the end with the number `ours` is kept, the other is for the process."""
        ends = os.pipe()
        self._ours.callback(os.close, ends[ours])
        try:
            yield ends
        finally:
            os.close(ends[1 - ours])

    @contextlib.contextmanager
    def _given(self, given: bytes | None) -> Iterator[int]:
        """Yield the file descriptor of its input."""
        if given is None:
            with self._pipe(ours=1) as (end, self._input):
                yield end
        elif given:
            with tempfile.TemporaryFile() as file:
                file.write(given)
                file.seek(0)
                yield file.fileno()
        else:
            with Path(os.devnull).open("rb") as nothing:
                yield nothing.fileno()

    def poll(self) -> int | None:
        """Read its answers; return its exit status, below 0 for a signal, None while it runs.

        Once the status is known, all answers are read, and the rest of its process group is ended.
        """
        if self._status is None:
            status = self._process.poll()
            self._take_answers()
            if status is not None:
                self._kill_group()  # now: another process may get its number later
                self._status = status
        return self._status

    def _take_answers(self) -> None:
        for _ in range(MOST_READS):
            try:
                block = os.read(self._output, READ_BYTES)
            except BlockingIOError:
                break
            if not block:
                break
            *ended, rest = block.split(b"\n")
            for part in ended:
                self._take(bytes(self._line + part))
                self._line.clear()
            self._line += rest[: max(0, LONGEST_LINE - len(self._line))]

    def _take(self, line: bytes) -> None:
        """Keep the JSON object of a line, if the line is one."""
        if line.startswith(b"{"):
            with contextlib.suppress(ValueError, RecursionError):  # the user's own code prints too
                self.answers.append(json.loads(line))

    def say(self, line: str) -> None:
        """Write a line to its input, unless it has ended."""
        assert self._input is not None
        with contextlib.suppress(BrokenPipeError):
            os.write(self._input, line.encode() + b"\n")

    @property
    def most_bytes(self) -> int:
        """The most memory that it has held, in bytes; 0 if that is unknown."""
        return peak_bytes_of(self._process.pid) or 0

    @property
    def log(self) -> str:
        """The end of its log: its standard error, and the program's own prints."""
        return log_tail(self._log, LOG_LINES)

    def explained(self, interpreter: str) -> dict[str, Any]:
        """Return `cause`, `fix`, and `signal` or `exit_status` of a process that has ended."""
        status = self.poll()
        assert status is not None
        return explain(status, [], self.log, interpreter)

    def end(self) -> None:
        """End it, with its process group."""
        if self._status is None:
            self._kill_group()
            self._status = self._process.wait()
        self._ours.close()

    def _kill_group(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)


@contextlib.contextmanager
def children(
    work: Work,
    tasks: Sequence[str] = ONE_TASK,
    folder: Path | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Iterator[list[Child]]:
    """Start a process for each task; end all, with their process groups, after the block.

    Their logs lie in `folder`; None: in a temporary folder. If TensorFlow is being loaded for
    processes to fork from, this waits until it is loaded. A program of the engine also ends when
    the calling process ends.

    Raises:
        OSError: a process cannot be started, or there is no free port (a NoAddressError).
        StoppedError: `stopped`, which is asked until all have started, returned true.
    """
    with contextlib.ExitStack() as stack:
        forks = _forks(work)
        stack.callback(forks.close)
        if folder is None:
            made = tempfile.TemporaryDirectory(prefix="workbench-", ignore_cleanup_errors=True)
            folder = Path(stack.enter_context(made))
        forks.prepare(lambda: time.sleep(LOADING_SECONDS), stopped, several=len(tasks) > 1)
        started: list[Child] = []
        for task, variables in environments(tasks, stack).items():
            if stopped():
                raise StoppedError("Stopped before it started. Ask again.")
            own = replace(work, environment={**work.environment, **variables})
            started.append(Child(own, folder / f"{task}.log", forks))
            stack.callback(started[-1].end)
        yield started


def _forks(work: Work) -> Forks:
    """Return the starter of the processes; cold if there is no place for a server's files."""
    with contextlib.suppress(RunError):
        return Forks(work.launch, state_dir(), work.start)
    return Forks(work.launch, Path(), COLD)


@dataclass(frozen=True)
class Ended:
    """The end of a process that ran alone."""

    exit_status: int
    answers: list[dict[str, Any]]
    message: str
    """The last line of its standard error that is not TensorFlow's; or how it ended."""
    log: str = field(default="", compare=False)
    """The end of its log."""


def run_to_end(work: Work, seconds: float) -> Ended:
    """Run a process until it ends.

    Raises:
        OSError: it cannot be started.
        TimeoutError: it has not ended after `seconds` seconds.
    """
    deadline = time.monotonic() + seconds

    def late() -> bool:
        return time.monotonic() > deadline

    with contextlib.suppress(StoppedError), children(work, stopped=late) as (child,):
        while not late():
            if (status := child.poll()) is not None:
                return Ended(status, child.answers, _message(status, child.log), child.log)
            time.sleep(POLL_SECONDS)
    raise TimeoutError(f"it did not end within {seconds:g} s")


def _message(exit_status: int, log: str) -> str:
    if exit_status < 0:
        number = -exit_status
        name = signal.Signals(number).name if number in signal.valid_signals() else str(number)
        return f"it was ended by the signal {name}"
    own_lines = [line for line in log.splitlines() if line.strip() and not _says_nothing(line)]
    return own_lines[-1] if own_lines else "it ended without a message"


def _says_nothing(line: str) -> bool:
    """Return whether a line is TensorFlow's report, or added below the reason of an error."""
    return is_from_tensorflow(line) or _ADDED.match(line) is not None


def to_blame(started: Sequence[Child]) -> Child:
    """Return the failed process whose log does not name another process as the reason.

    One of them has failed. This waits briefly for the others, because they may know the cause.
    """
    deadline = time.monotonic() + OTHERS_SECONDS
    while time.monotonic() < deadline and any(child.poll() is None for child in started):
        time.sleep(POLL_SECONDS)
    failed = [child for child in started if child.poll()]
    return next((child for child in failed if not follows_another(child.log)), failed[0])
