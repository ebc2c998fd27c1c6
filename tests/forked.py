"""Python programs of the tests, each in a process of its own in which TensorFlow is imported.

They are forked from the product's fork server. All processes of tests share one such server: it
starts with the first program and ends with the last process of tests that holds it.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

import pytest

from tests.waiting import POLL_SECONDS
from workbench.forking import Forked, Order
from workbench.forking.inherited import read_at_import
from workbench.runs.processes.environment import Launch
from workbench.runs.processes.forks import COLD, Forks

ROOT = Path(__file__).parents[1]
LAUNCH = Launch(sys.executable, ROOT, module_dirs=(ROOT,))
STATE = "WORKBENCH_TESTS_FORKS"
"""The variable that names the state folder with the server's files; conftest.py sets it."""
LOG_LEVEL = {"TF_CPP_MIN_LOG_LEVEL": "2"}
APPLIED_LATER = ("PYTHONPATH", "TF_CPP_MIN_LOG_LEVEL", "XDG_CACHE_HOME")
"""Variables that a program may have for itself, although its server has other values."""
SHOWN_LETTERS = 4000
PROGRAM_SECONDS = 1100.0
"""A little less than the limit of pytest: some programs do all the work of a file of tests."""


def run_program(
    arguments: Sequence[object],
    folder: Path = ROOT,
    environment: Mapping[str, str] | None = None,
    given: str = "",
    *,
    check: bool = True,
    legacy: bool = False,
    seconds: float = PROGRAM_SECONDS,
) -> subprocess.CompletedProcess[str]:
    """Run a Python file with arguments in a folder; return its exit status and its output.

    `environment` is added to the environment of this process; `given` is its input. It starts cold
    if it needs `legacy` Keras or another environment while TensorFlow is imported.

    Raises:
        CalledProcessError: `check` is true and the exit status is not 0.
        TimeoutExpired: it did not end within `seconds` seconds and was killed.
    """
    words = [str(each) for each in arguments]
    variables = {**LAUNCH.environment(), **LOG_LEVEL, **(environment or {})}
    starts = forks(COLD if legacy or settled(variables) != settled_environment() else None)
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile("w+")) for _ in range(3)]
        files[0].write(given)
        files[0].seek(0)
        stdin, stdout, stderr = (file.fileno() for file in files)
        process = starts.begin(Order(words, folder, variables, (stdin, stdout, stderr)))
        status = status_of(process, words, seconds)
        done = subprocess.CompletedProcess(words, status, *map(content, files[1:]))
    if check and status:
        error = subprocess.CalledProcessError(status, words, done.stdout, done.stderr)
        error.add_note(done.stderr[-SHOWN_LETTERS:])
        raise error
    return done


def run_code(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the text of a Python program: see `run_program`."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "program.py"
        script.write_text(code)
        return run_program([script, *arguments])


def share(state: Path) -> None:
    """Have processes with this state folder fork from the server; their locks stay their own.

    They must have the server's environment: see `LOG_LEVEL`.
    """
    load_ahead()
    state.mkdir(parents=True, exist_ok=True)
    (state / "forks").symlink_to((Path(os.environ[STATE]) / "forks").resolve())


def load_ahead() -> None:
    """Start the server, so that runs with the same state folder and environment fork from it."""
    forks(None)


def forks(start: str | None) -> Forks:
    """Return the starter of programs, with a server that is ready; `start` is as in a config."""
    found = _forks(start)
    found.prepare(lambda: time.sleep(POLL_SECONDS), lambda: False, several=True)
    return found


@functools.cache
def _forks(start: str | None) -> Forks:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in LOG_LEVEL.items():
            patch.setenv(name, value)
        return Forks(LAUNCH, Path(os.environ[STATE]), start)


@functools.cache
def settled_environment() -> dict[str, str]:
    """Return the variables that each program must share with the server."""
    return settled(LAUNCH.environment())


def settled(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a process has for good once it has imported TensorFlow."""
    found = read_at_import(environment)
    return {name: value for name, value in found.items() if name not in APPLIED_LATER}


def status_of(
    process: subprocess.Popen[bytes] | Forked, words: Sequence[str], seconds: float
) -> int:
    """Return the exit status of a process once it has ended; it is killed with this wait."""
    deadline = time.monotonic() + seconds
    try:
        while (status := process.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(words, seconds)
            time.sleep(POLL_SECONDS)
        return status
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def content(file: IO[str]) -> str:
    """Return all text of an open file."""
    file.seek(0)
    return file.read()
