"""The warm start: a supervisor and a trainer that wait for one run, TensorFlow imported."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence

from .launch import PACKAGE_ROOT


class WarmStart:
    """Holds the line to processes that wait in the run's interpreter; good for one run.

    They are made of the environment of this moment, so a run under another one starts cold. They
    end with this process, after ten minutes in which nobody called `keep`, or when memory is short.
    """

    def __init__(
        self,
        interpreter: str,
        on_change: Callable[[], None] = lambda: None,
        module: str = "tensorflow",
    ) -> None:
        """Start them and return at once; `on_change` is called in another thread.

        Raises:
            OSError: no process can be started.
        """
        self.interpreter = interpreter
        self.ready = False
        """Whether TensorFlow is imported."""
        self.gone = False
        """Whether they have ended or have been given a run."""
        self._on_change = on_change
        self._environment = dict(os.environ)
        self._lock = threading.Lock()
        self._channel, other_end = socket.socketpair()
        command = [sys.executable, "-m", "workbench.runs.standby", interpreter]
        with other_end:
            launcher = subprocess.Popen(
                [*command, "--channel", str(other_end.fileno()), "--module", module],
                cwd=PACKAGE_ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                pass_fds=(other_end.fileno(),),
            )
        self.group = launcher.pid
        """The process group of the waiting supervisor."""
        launcher.wait()
        threading.Thread(target=self._listen, name="workbench-warm", daemon=True).start()

    def keep(self) -> None:
        """Say that they are still wanted."""
        with self._lock, contextlib.suppress(OSError):
            if not self.gone:
                self._channel.sendall(b"\n")

    def fits(self, interpreter: str) -> bool:
        """Return whether a run in this interpreter, started now, can have them."""
        same = interpreter == self.interpreter and dict(os.environ) == self._environment
        return same and not self.gone

    def hand_over(self, arguments: Sequence[str], lock_fd: int, ready_fd: int) -> bool:
        """Have them supervise and train a run; return False where they have ended.

        `arguments` are the supervisor's; the descriptors are those of its `--lock-fd` and
        `--ready-fd`, and stay open here.
        """
        line = json.dumps(list(arguments)).encode() + b"\n"
        with self._lock:
            if self.gone:
                return False
            try:
                socket.send_fds(self._channel, [line], [lock_fd, ready_fd])
            except OSError:
                return False
            self._leave()
        return True

    def close(self) -> None:
        """Let them end."""
        with self._lock:
            if not self.gone:
                self._leave()

    def _leave(self) -> None:
        self.gone = True
        with contextlib.suppress(OSError):
            self._channel.shutdown(socket.SHUT_WR)

    def _listen(self) -> None:
        with contextlib.suppress(OSError):
            while self._channel.recv(64):
                self.ready = True
                self._on_change()
        with self._lock:
            self.gone = True
            self._channel.close()
        self._on_change()
