"""A tool that runs in a child: its lines can be watched, and it can be cancelled."""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import signal
import subprocess
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from workbench.environments.progress import TICK_SECONDS, ProgressReport

_KEPT_LINES = 400
_END_OF_LINE = re.compile(rb"[\r\n]+")


@dataclass(frozen=True)
class Ended:
    """The exit status of a tool, and the last lines that it wrote."""

    status: int
    lines: tuple[str, ...]


def run(
    command: Sequence[str], environment: Mapping[str, str], report: ProgressReport, lock_fd: int
) -> Ended:
    """Run a tool to its end, and report each line that it writes.

    Afterwards the tool and the processes in its process group are killed. These processes hold the
    lock too. So if this process is killed, no other process starts before they have ended.

    Raises:
        CancelledError: the caller cancelled.
        OSError: the tool cannot be started.
    """
    child = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        pass_fds=(lock_fd,),
    )
    assert child.stdout is not None
    try:
        lines = _follow(child.stdout, report)
        return Ended(child.wait(), lines)
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        child.stdout.close()
        child.wait()


def _follow(output: IO[bytes], report: ProgressReport) -> tuple[str, ...]:
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
