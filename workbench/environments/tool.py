"""Run a tool in a child, line by line, so that it can be watched and given up."""

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

from workbench.environments.progress import TICK_SECONDS, Account

_KEPT_LINES = 400
_END_OF_LINE = re.compile(rb"[\r\n]+")


@dataclass(frozen=True)
class Ended:
    """How a tool ended, and the last of what it wrote."""

    status: int
    lines: tuple[str, ...]


def run(
    command: Sequence[str], environment: Mapping[str, str], account: Account, lock_fd: int
) -> Ended:
    """Run it to its end and tell each line; it and all that it started are gone afterwards.

    They hold the lock too: where this process is killed, nobody begins before they have ended.

    Raises:
        CancelledError: someone asked for it.
        OSError: it cannot be started.
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
        lines = _follow(child.stdout, account)
        return Ended(child.wait(), lines)
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        child.stdout.close()
        child.wait()


def _follow(output: IO[bytes], account: Account) -> tuple[str, ...]:
    kept: deque[str] = deque(maxlen=_KEPT_LINES)
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        while True:
            if not selector.select(TICK_SECONDS):
                account.tick()
                continue
            read = os.read(output.fileno(), 65536)
            *whole, rest = _END_OF_LINE.split(rest + read)
            for line in [*whole, *([] if read else [rest])]:
                if words := line.decode(errors="replace").strip():
                    kept.append(words)
                    account.tick(words)
            if not read:
                return tuple(kept)
