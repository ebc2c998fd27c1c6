"""uv, which makes environments: where it is found, how it runs, and why it fails.

https://docs.astral.sh/uv/ documents its commands and variables.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from workbench.environments.errors import MakingError
from workbench.environments.folders import OTHER_PLACE
from workbench.environments.progress import TICK_SECONDS, ProgressReport

_KEPT_LINES = 400
_MOST_CHARACTERS = 400
_END_OF_LINE = re.compile(rb"[\r\n]+")
_LEFT_OUT = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT",
             "PIP_CONSTRAINT", "UV_CONSTRAINT", "UV_BUILD_CONSTRAINT", "UV_OVERRIDE", "UV_EXCLUDE",
             "UV_SYSTEM_PYTHON")  # fmt: skip
"""Variables that make an installer use other folders or obey limits of the kernel's packages."""
_OF_PIP = {
    "PIP_INDEX_URL": "UV_DEFAULT_INDEX",
    "PIP_EXTRA_INDEX_URL": "UV_INDEX",
    "PIP_CERT": "SSL_CERT_FILE",
}
"""The variables of pip that say where packages come from, and those of uv for the same."""
_INDEX = "The packages must be downloaded from a package index"
_MEMORY = "The installation needs free memory"
_END_OTHERS = "End other programs that use memory, then try again."

# (pattern in the output, rule, fix); the first pattern that matches is used.
_CAUSES: tuple[tuple[str, str, str], ...] = (
    (
        r"No space left on device|Disk quota exceeded|os error (?:28|122)\b",
        "This environment needs more free disk space",
        f"Make room there, or {OTHER_PLACE}.",
    ),
    (
        r"invalid peer certificate|CERTIFICATE_VERIFY_FAILED",
        _INDEX,
        "Set SSL_CERT_FILE to your network's certificates; check that the machine's clock is "
        "right.",
    ),
    (
        r"\b(?:401|403|407)\b.*(?:Forbidden|Unauthorized|Required)",
        _INDEX,
        "Give the index's user name and password in UV_DEFAULT_INDEX, or use another index.",
    ),
    (
        r"error sending request|dns error|Connect(?:ion)? ?(?:Error|refused|reset)|timed out"
        r"|Network is unreachable|Failed to fetch|Max retries exceeded|network was disabled",
        _INDEX,
        "Turn the network on (Kaggle: Internet in the notebook's settings, which needs a verified "
        "phone number); behind a proxy, set HTTPS_PROXY; for your own index, set "
        "UV_DEFAULT_INDEX, because uv does not read pip.conf. Then try again.",
    ),
    (
        r"no wheels|no version of|not found in the .*(?:registry|index)|No solution found",
        "The package index must have wheels for this Python and machine",
        "Choose a Python of 3.11 to 3.13 in the field Interpreter or with --interpreter, or use "
        "an index that has the wheels (UV_DEFAULT_INDEX).",
    ),
    (
        r"Hash mismatch|invalid (?:wheel|zip)|Failed to (?:extract|unzip)",
        "The downloaded packages must be complete",
        "Try again; if it fails again, use another index (UV_DEFAULT_INDEX).",
    ),
    (
        r"Permission denied|Read-only file system|Operation not permitted",
        "Environments need a folder that can be written",
        f"Give yourself write permission there, or {OTHER_PLACE}.",
    ),
    (
        r"No module named pip",
        "Making an environment needs uv, or pip to install uv",
        "Install uv (https://docs.astral.sh/uv), then try again.",
    ),
    (r"Cannot allocate memory|MemoryError", _MEMORY, _END_OTHERS),
)
_KILLED = -9


class Uv:
    """A uv that works in one folder; its processes hold a lock as long as they live."""

    def __init__(self, temporary: Path, report: ProgressReport, lock_fd: int) -> None:
        """Find uv; if this machine has none, install it into the folder with pip.

        Raises:
            MakingError: there is no uv, and pip cannot install it.
            CancelledError: the caller cancelled.
        """
        self._temporary, self._report, self._lock_fd = temporary, report, lock_fd
        self._command = self._found() or self._installed()

    def run(self, *arguments: str) -> None:
        """Run a command of uv to its end, and report each line that it writes.

        Raises:
            MakingError: it failed; its output may show cause and fix.
            CancelledError: the caller cancelled.
            OSError: it cannot be started.
        """
        self._run("uv", [*self._command, *arguments])

    def _found(self) -> list[str]:
        if program := shutil.which("uv"):
            return [program]
        module = importlib.util.find_spec("uv")
        is_package = module is not None and module.origin is not None  # no folder of this name
        return [sys.executable, "-m", "uv"] if is_package else []

    def _installed(self) -> list[str]:
        folder = self._temporary / "uv"
        pip = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
        self._run("pip install uv", [*pip, "--no-cache-dir", "--target", str(folder), "uv"])
        return [str(folder / "bin" / "uv")]

    def _run(self, name: str, command: Sequence[str]) -> None:
        child = subprocess.Popen(
            command,
            cwd=self._temporary,  # so that no project of the caller configures uv
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=(self._lock_fd,),
        )
        assert child.stdout is not None
        try:
            lines = _follow(child.stdout, self._report)
            status = child.wait()
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
            child.stdout.close()
            child.wait()
        if status:
            raise failed(name, status, lines)

    def _environment(self) -> dict[str, str]:
        """Return the environment variables: all files on one disk, packages from pip's index."""
        kept = {name: value for name, value in os.environ.items() if name not in _LEFT_OUT}
        of_pip = {uv: kept[pip] for pip, uv in _OF_PIP.items() if pip in kept}
        ours = {"PIP_USER": "0", "UV_NO_CACHE": "1", "TMPDIR": str(self._temporary)}
        if places := [_full(place) for place in kept.get("PIP_FIND_LINKS", "").split()]:
            of_pip["UV_FIND_LINKS"] = ",".join(places)
            ours["PIP_FIND_LINKS"] = " ".join(places)
        return {**of_pip, **kept, **ours}


def _full(place: str) -> str:
    """Return a place of packages as it is named from any folder."""
    return place if "://" in place else str(Path(place).expanduser().absolute())


def failed(name: str, status: int, lines: Sequence[str]) -> MakingError:
    """Return the error for a command that failed, from the lines that it wrote."""
    errors = [at for at, line in enumerate(lines) if re.match("error", line, re.IGNORECASE)]
    wrote = " / ".join(lines[errors[0] if errors else -3 :])[-_MOST_CHARACTERS:].rstrip(".")
    got = f"status {status} of {name}: {wrote or 'no output'}"
    text = "\n".join(lines)
    for pattern, rule, fix in _CAUSES:
        if re.search(pattern, text, re.IGNORECASE):
            return MakingError(rule, got, fix)
    if status == _KILLED:
        return MakingError(_MEMORY, f"a killed installer, {got}", _END_OTHERS)
    rule = "The installation must end without an error"
    return MakingError(rule, got, "Fix the reported error, then try again.")


def _follow(output: IO[bytes], report: ProgressReport) -> Sequence[str]:
    """Report each line of a command, and return the last ones."""
    kept: deque[str] = deque(maxlen=_KEPT_LINES)
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        while True:
            if not selector.select(TICK_SECONDS):
                report.tick()
                continue
            read = os.read(output.fileno(), 65536)
            *whole, rest = _END_OF_LINE.split(rest + read)
            for line in [*whole, *([] if read else [rest])]:
                if text := line.decode(errors="replace").strip():
                    kept.append(text)
                    report.tick(text)
            if not read:
                return tuple(kept)
