"""Processes of programs beside training: how they start, what they answer, how they end."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from workbench.devices.tpu_build import WITHOUT_TPU
from workbench.forking import Order
from workbench.runs.folder.files import RunError, StoppedError
from workbench.runs.folder.locks import state_dir
from workbench.runs.folder.logs import log_tail
from workbench.runs.folder.tasks import ONE_TASK, environments
from workbench.runs.processes.environment import Launch
from workbench.runs.processes.forks import COLD, Forks
from workbench.runs.processes.peak_memory import peak_bytes_of
from workbench.runs.supervise.diagnosis import explain, follows_another, tensorflow_says

ON_CPU = {**WITHOUT_TPU, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
"""The environment of a process that is to take no device."""
POLL_SECONDS = 0.05
LOADING_SECONDS = 0.2
"""How often it is looked whether TensorFlow has been loaded."""
OTHERS_SECONDS = 2.0
"""How long the others may take to end after the first: one of them may know the cause."""
LOG_LINES = 200
READ_BYTES = 65_536
MOST_READS = 64
"""At one look: one that prints without end is not to hold up who looks."""
LONGEST_LINE = 64 * 2**20


@dataclass(frozen=True)
class Work:
    """What a process is to run."""

    launch: Launch
    arguments: Sequence[str]
    """A script and its own arguments."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """What is added to that of all processes of a run; TensorFlow may be imported already."""
    given: bytes | None = b""
    """What it reads; None: what `Child.say` says, until it is ended."""
    start: Any = None
    """As in a config: `cold` where nothing is to be forked."""


class Child:
    """A process that answers in lines of JSON objects; what else it prints is passed over."""

    def __init__(self, work: Work, log: Path, forks: Forks) -> None:
        """Start it: forked where that can be.

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
                    # No module of the engine, beside which a program lies, hides one of the user's.
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
        """Give a pipe: the end of this number is kept, the other one is for the process only."""
        ends = os.pipe()
        self._ours.callback(os.close, ends[ours])
        try:
            yield ends
        finally:
            os.close(ends[1 - ours])

    @contextlib.contextmanager
    def _given(self, given: bytes | None) -> Iterator[int]:
        """Give what it reads from."""
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
        """Take in its answers; return its exit status, below zero by a signal, None while it runs.

        Once it is known all answers are taken in, and what it left in its process group is ended.
        """
        if self._status is None:
            status = self._process.poll()
            self._take_answers()
            if status is not None:
                self._kill_group()  # at once: its number may be given to another one later
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
        """Keep the JSON object that a line is, if it is one."""
        if line.startswith(b"{"):
            with contextlib.suppress(ValueError, RecursionError):  # the user's own code prints, too
                self.answers.append(json.loads(line))

    def say(self, line: str) -> None:
        """Write a line to its input, unless it has ended."""
        assert self._input is not None
        with contextlib.suppress(BrokenPipeError):
            os.write(self._input, line.encode() + b"\n")

    @property
    def most_bytes(self) -> int:
        """The most memory that it has held; 0 where that is not told."""
        return peak_bytes_of(self._process.pid) or 0

    @property
    def log(self) -> str:
        """The end of what it has written to its standard error, and a program's own prints."""
        return log_tail(self._log, LOG_LINES)

    def explained(self, interpreter: str) -> dict[str, Any]:
        """Return `cause`, `fix`, and `signal` or `exit_status` of one that has ended."""
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
    """Start a process for each task; end all, with their process groups, when the block is left.

    Their logs lie in `folder`; None: in a temporary one. Where TensorFlow is being loaded for
    processes to fork from, that is waited for. A program of the engine also ends with the process
    that has called this.

    Raises:
        OSError: a process cannot be started, or there is no free port (a NoAddressError).
        StoppedError: `stopped`, which is asked until all have started, said so.
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
                raise StoppedError(
                    "A process is started for who waits for its answer; it was stopped. Ask again."
                )
            own = replace(work, environment={**work.environment, **variables})
            started.append(Child(own, folder / f"{task}.log", forks))
            stack.callback(started[-1].end)
        yield started


def _forks(work: Work) -> Forks:
    """Return what begins the processes; cold where there is no place for a server's files."""
    with contextlib.suppress(RunError):
        return Forks(work.launch, state_dir(), work.start)
    return Forks(work.launch, Path(), COLD)


@dataclass(frozen=True)
class Ended:
    """How a process has ended that ran alone."""

    exit_status: int
    answers: list[dict[str, Any]]
    last_words: str
    """The last line that it wrote to its standard error, but TensorFlow's; or how it ended."""


def run_to_end(work: Work, seconds: float) -> Ended:
    """Run a process until it has ended.

    Raises:
        OSError: it cannot be started.
        TimeoutError: it has not ended after so many seconds.
    """
    deadline = time.monotonic() + seconds

    def late() -> bool:
        return time.monotonic() > deadline

    with contextlib.suppress(StoppedError), children(work, stopped=late) as (child,):
        while not late():
            if (status := child.poll()) is not None:
                return Ended(status, child.answers, _last_words(status, child.log))
            time.sleep(POLL_SECONDS)
    raise TimeoutError(f"it did not end within {seconds:g} s")


def _last_words(exit_status: int, log: str) -> str:
    if exit_status < 0:
        number = -exit_status
        name = signal.Signals(number).name if number in signal.valid_signals() else str(number)
        return f"it was ended by the signal {name}"
    said = [line for line in log.splitlines() if line.strip() and not tensorflow_says(line)]
    return said[-1] if said else "it ended without a word"


def to_blame(started: Sequence[Child]) -> Child:
    """Return the one that failed and does not say that it did because of another.

    One of them has failed; the others are waited for, briefly: they may know the cause.
    """
    deadline = time.monotonic() + OTHERS_SECONDS
    while time.monotonic() < deadline and any(child.poll() is None for child in started):
        time.sleep(POLL_SECONDS)
    failed = [child for child in started if child.poll()]
    return next((child for child in failed if not follows_another(child.log)), failed[0])
