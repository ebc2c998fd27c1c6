"""Questions to an interpreter: a short-lived child reports its TensorFlow and its devices.

No process of the child remains.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from workbench.devices.records import DeviceError

PROBE = Path(__file__).resolve().with_name("probe.py")
MARK = "workbench-devices:"
_RULE = "The interpreter must be a Python program on this machine"
_KEPT_BYTES = 1_000_000
_GRACE_SECONDS = 5


class Process(Protocol):
    """A process that leads its own session."""

    @property
    def pid(self) -> int: ...

    def wait(self, timeout: float | None = None) -> int:
        """Return its exit status; raise `subprocess.TimeoutExpired` after `timeout` seconds."""


Begin = Callable[[list[str], dict[str, str], tuple[int, int, int]], Process]
"""The start of a process from its command, environment, and stdin, stdout and stderr."""


@dataclass(frozen=True)
class Imported:
    """The facts that TensorFlow gives about itself after its import; None is unknown."""

    version: str
    cuda_build: bool
    cuda_version: str | None
    tpu_build: bool | None
    tpu_system: bool
    """Whether it loaded libtpu, so that it could set up a TPU; also given if there is no chip."""
    gpus: tuple[tuple[str | None, str | None], ...]
    """Model and compute capability of each GPU, in TensorFlow's order."""


@dataclass(frozen=True)
class Report:
    """The contents of one interpreter; `imported` is None if TensorFlow was not imported."""

    interpreter: str
    python_version: str
    distributions: dict[str, str]
    """The installed distributions that provide TensorFlow, with their versions."""
    tensorflow_found: bool
    keras: str | None
    tf_keras: str | None
    libtpu: str | None
    pip: bool
    externally_managed: bool
    imported: Imported | None
    import_error: str | None
    log: str
    """All other output of the child, besides its report: TensorFlow's log."""


def start_cold(
    command: list[str], environment: dict[str, str], streams: tuple[int, int, int]
) -> Process:
    """Start a process as the system does: see `Begin`."""
    stdin, stdout, stderr = streams
    return subprocess.Popen(
        command,
        env=environment,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
    )


def ask(
    interpreter: str,
    mode: str,
    timeout_seconds: float,
    environment: Mapping[str, str],
    begin: Begin = start_cold,
) -> Report:
    """Run the probe in `interpreter` and return its report.

    Args:
        interpreter: a path, or a name on PATH.
        mode: `metadata`, `import` or `import-unless-tpu`. The last one does not import a TPU
            build, because the import takes the TPU's lock.
        timeout_seconds: the time after which the child and all its processes are killed.
        environment: the child's environment variables.
        begin: starts the child.

    Raises:
        DeviceError: the time limit is not a positive number, the program does not exist, it is
            not a Python, it gave no report in time, or a signal killed it.
    """
    program = located(interpreter, environment)
    if not 0 < timeout_seconds < math.inf:
        raise DeviceError(
            "timeout_seconds must be a positive number of seconds",
            repr(timeout_seconds),
            "Pass timeout_seconds=60, for example.",
        )
    limit_seconds = str(math.ceil(timeout_seconds) + _GRACE_SECONDS)
    command = [program, str(PROBE), mode, limit_seconds, MARK]
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as log:
        status = _run(command, output, log, timeout_seconds, environment, begin)
        written, errors = _tail(output), _tail(log)
    if status is None:
        raise _too_slow(program, mode, timeout_seconds, errors)
    lines = [line for line in written.splitlines() if line.startswith(MARK)]
    if not lines:
        raise _no_report(program, status, written + errors)
    values = json.loads(lines[-1].removeprefix(MARK))
    found = values.pop("imported")
    if found is not None:
        gpus = tuple((gpu["model"], gpu["compute_capability"]) for gpu in found.pop("gpus"))
        found = Imported(**found, gpus=gpus)
    return Report(**values, interpreter=program, imported=found, log=written + errors)


def located(interpreter: str, environment: Mapping[str, str]) -> str:
    """Return the absolute path of an interpreter; links stay, because a venv's Python is a link.

    Raises:
        DeviceError: the program does not exist or cannot be run.
    """
    try:
        path = Path(interpreter).expanduser()
    except RuntimeError as error:
        fix = "Write the path in full, or set HOME."
        got = f"{interpreter!r}, which names a user without a home folder"
        raise DeviceError(_RULE, got, fix) from error
    if path.is_dir():
        inside = path / "bin" / "python"
        hint = f" Perhaps {inside}?" if inside.exists() else ""
        raise DeviceError(_RULE, f"the folder {path}", f"Name the program itself.{hint}")
    found = shutil.which(str(path), path=environment.get("PATH"))
    if found is None:
        got = f"{path}, which is not executable" if path.exists() else f"{interpreter!r}"
        raise DeviceError(
            _RULE,
            f"{got}, and no program of that name can be run",
            "Give the full path of a Python, such as the one that `which python` prints.",
        )
    return os.path.abspath(found)  # noqa: PTH100 (Path.resolve would follow a venv's link)


def _run(
    command: list[str],
    output: IO[bytes],
    log: IO[bytes],
    timeout_seconds: float,
    environment: Mapping[str, str],
    begin: Begin,
) -> int | None:
    """Return the exit status, None at the time limit; then kill the complete process group."""
    logging = {**environment, "TF_CPP_MIN_LOG_LEVEL": "0"}
    try:
        with Path(os.devnull).open("rb") as nothing:
            child = begin(command, logging, (nothing.fileno(), output.fileno(), log.fileno()))
    except OSError as error:
        raise DeviceError(
            _RULE,
            f"{command[0]}, which the system cannot run ({error.strerror})",
            "Choose a working Python for this machine.",
        ) from error
    try:
        return child.wait(timeout_seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def _tail(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _KEPT_BYTES))
    return file.read().decode(errors="replace")


def _too_slow(program: str, mode: str, timeout_seconds: float, log: str) -> DeviceError:
    asked = "its versions" if mode == "metadata" else "importing TensorFlow and listing devices"
    return DeviceError(
        f"The interpreter must answer within {timeout_seconds:g} seconds",
        f"no answer from {program} ({asked}), so it was killed. {_last_line(log)}",
        f"Try `{program} -c 'import tensorflow'` in a terminal; if that is only slow (a "
        "network disk, a busy machine), pass a larger timeout_seconds.",
    )


def _no_report(program: str, status: int, text: str) -> DeviceError:
    if status < 0:
        return DeviceError(
            "The interpreter must import TensorFlow and list its devices",
            f"{program}, which was killed by {_signal_name(-status)}. {_last_line(text)}",
            "After SIGILL, install a TensorFlow built for this processor; after SIGKILL, free some "
            "memory; otherwise reinstall TensorFlow there.",
        )
    return DeviceError(
        _RULE,
        f"{program}, which gave no report and ended with status {status}. {_last_line(text)}",
        "Choose a Python of 3.11 to 3.13, such as the one that `which python` prints.",
    )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"Its last line: {lines[-1][:300]!r}" if lines else "It wrote no output"
