"""A task's process on this machine."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from workbench.forking import Forked, Order

from .ending import TaskProcess
from .environment import STOP_FD, Launch
from .forks import Forks
from .peak_memory import peak_bytes_of


class LocalProcess(TaskProcess):
    """The process that runs train.py on this machine, in its own process group.

    Its log is a plain file. A pipe connects it to the supervisor: a byte asks it to stop, and the
    end of the pipe shows that the supervisor is dead. The keeper of a forked process reports how
    that process ends.
    """

    def __init__(
        self,
        task_dir: Path,
        launch: Launch,
        log: Path,
        environment: Mapping[str, str],
        kept_fds: Sequence[int],
        forks: Forks,
    ) -> None:
        """Start the process, forked if possible.

        `environment` is added to the environment that every process of the run has. The process
        holds the locks in `kept_fds` too, until it has ended.

        Raises:
            OSError: the interpreter cannot be started.
        """
        super().__init__()
        read_end, self._stop_pipe = os.pipe()
        try:
            fds = (read_end, *kept_fds)
            self.process = _begin(task_dir.parent, launch, log, environment, fds, forks)
            self.begun = forks.begun
        except OSError:
            os.close(self._stop_pipe)
            raise
        finally:
            os.close(read_end)

    @property
    def exit_status(self) -> int | None:
        """The exit status of a process that has ended; below zero if a signal ended it."""
        return self.process.poll()

    @property
    def peak_bytes(self) -> int | None:
        """The peak memory of the process in bytes; None if that is unknown."""
        return peak_bytes_of(self.process.pid)

    @property
    def suspended(self) -> bool:
        """Whether the system suspended it, as after SIGSTOP; see "state" in proc_pid_stat(5)."""
        with contextlib.suppress(OSError, IndexError):
            text = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8")
            return text.rpartition(")")[2].split()[0] in ("T", "t")
        return False

    def kill(self) -> None:
        """Kill the process and every process that it left in its group."""
        self._signal_group(signal.SIGKILL)

    def close(self) -> None:
        """Close the pipe, once the process has ended."""
        if self._stop_pipe >= 0:
            os.close(self._stop_pipe)
        self._stop_pipe = -1

    def wait(self) -> None:
        """Wait for the end of a killed process."""
        self.process.wait()

    def _request_stop(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            os.write(self._stop_pipe, b"s")

    def _terminate(self) -> None:
        self._signal_group(signal.SIGTERM)

    def _signal_group(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number)


def _begin(
    run_dir: Path,
    launch: Launch,
    log: Path,
    environment: Mapping[str, str],
    fds: Sequence[int],
    forks: Forks,
) -> subprocess.Popen[bytes] | Forked:
    with log.open("ab") as output, Path(os.devnull).open("rb") as nothing:
        order = Order(
            launch.command(run_dir),
            launch.working_dir,
            {**launch.environment(), **environment},
            (nothing.fileno(), output.fileno(), output.fileno()),
            fds,
            {STOP_FD: fds[0]},
        )
        return forks.begin(order)
