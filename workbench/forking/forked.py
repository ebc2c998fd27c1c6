"""A process that was forked from a server: what of `subprocess.Popen` its owner needs."""

from __future__ import annotations

import json
import signal
import socket
from typing import Any


class Forked:
    """Leads a session and a process group of its own; its keeper tells how it ended."""

    def __init__(self, pid: int, connection: socket.socket) -> None:
        """Take over the connection by which it was ordered, on which its end will be told."""
        self.pid = pid
        self.returncode: int | None = None
        self._connection, self._told = connection, b""

    def poll(self) -> int | None:
        """Return its exit status, below zero by a signal; None while it runs."""
        return self._heard(0.0)

    def wait(self) -> int:
        """Wait for its end and return its exit status."""
        while (status := self._heard(None)) is None:
            pass
        return status

    def _heard(self, seconds: float | None) -> int | None:
        if self.returncode is not None:
            return self.returncode
        self._connection.settimeout(seconds)
        try:
            part = self._connection.recv(4096)
        except (BlockingIOError, TimeoutError):
            return None
        except ConnectionError:
            part = b""
        self._told += part
        if not part or self._told.endswith(b"\n"):
            # A keeper that was killed takes its process with it.
            self.returncode = status_in(self._told) if part else -signal.SIGKILL
            self._connection.close()
        return self.returncode


def status_in(line: bytes) -> int:
    """Return the exit status that a line of a keeper tells."""
    values: dict[str, Any] = json.loads(line)
    return int(values["status"])
