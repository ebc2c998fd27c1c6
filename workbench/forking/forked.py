"""A process that was forked from a server, with the part of `subprocess.Popen` its owner needs."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import time
from typing import Any


class Forked:
    """A process that leads its own session and process group. Its keeper reports how it ended."""

    def __init__(self, pid: int, connection: socket.socket) -> None:
        """Take over the connection of its order, on which the keeper will report its end."""
        self.pid = pid
        self.returncode: int | None = None
        self._connection, self._report = connection, b""

    def fileno(self) -> int:
        """Return the descriptor that becomes readable when it ends; below zero once that is known.

        So `select` can wait for it.
        """
        return self._connection.fileno()

    def poll(self) -> int | None:
        """Return its exit status, below zero after a signal; None while it runs."""
        return self._receive(0.0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end and return its exit status.

        Raises:
            subprocess.TimeoutExpired: it has not ended after `timeout` seconds.
        """
        began, left = time.monotonic(), timeout
        while (status := self._receive(left)) is None:
            if timeout is not None and (left := began + timeout - time.monotonic()) <= 0:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
        return status

    def _receive(self, seconds: float | None) -> int | None:
        if self.returncode is not None:
            return self.returncode
        self._connection.settimeout(seconds)
        try:
            part = self._connection.recv(4096)
        except (BlockingIOError, TimeoutError):
            return None
        except ConnectionError:
            part = b""
        self._report += part
        if not part or self._report.endswith(b"\n"):
            # If a keeper is killed, its process is killed too.
            self.returncode = status_in(self._report) if part else -signal.SIGKILL
            self._connection.close()
        return self.returncode


def status_in(line: bytes) -> int:
    """Return the exit status in a keeper's line."""
    values: dict[str, Any] = json.loads(line)
    return int(values["status"])
