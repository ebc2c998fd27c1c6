"""The trainer's process: how it is started, and how it is brought to an end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .directory import SCRIPT
from .launch import Launch
from .watchdog import Bounds, Watchdog

if TYPE_CHECKING:
    from .standby import WaitingTrainer


class Trainer:
    """The process that runs train.py, in a process group of its own.

    Its log is a plain file and its only tie to the supervisor a pipe: a byte asks it to stop, and
    the end of the pipe tells it that the supervisor is dead.
    """

    def __init__(
        self,
        task_dir: Path,
        launch: Launch,
        log: Path,
        environment: Mapping[str, str],
        kept_fds: Sequence[int],
        waiting: WaitingTrainer | None = None,
    ) -> None:
        """Start it, or make it of the process that waits, if that still lives.

        `environment` is added to what every process of the run has. The locks in `kept_fds` are
        held until it has ended too.

        Raises:
            OSError: the interpreter cannot be started.
        """
        self.note: str | None = None
        """What was done to end it before its work was."""
        self._stop_asked_at: float | None = None
        self._terminated_at: float | None = None
        self._ended_at: float | None = None
        read_end, self._stop_pipe = os.pipe()
        try:
            fds = (read_end, *kept_fds)
            self.process = _start(task_dir.parent, launch, log, environment, fds, waiting)
        except OSError:
            os.close(self._stop_pipe)
            raise
        finally:
            os.close(read_end)

    @property
    def stopping(self) -> bool:
        """Whether it was asked to stop."""
        return self._stop_asked_at is not None

    @property
    def terminated(self) -> bool:
        """Whether it was ended, having had its time to end by itself."""
        return self._terminated_at is not None

    def ask_to_stop(self, now: float) -> None:
        """Ask it to finish the call under way, save and end."""
        self._stop_asked_at = now
        with contextlib.suppress(BrokenPipeError):
            os.write(self._stop_pipe, b"s")

    def press(self, now: float, bounds: Bounds, dog: Watchdog) -> None:
        """End it by signals where it has had its time to end by itself."""
        if self._ended_at is None and any(
            event["event"] in ("finished", "stopped") for event in dog.events
        ):
            self._ended_at = now
        if self._terminated_at is not None:
            if now - self._terminated_at > bounds.kill_grace_seconds:
                self.kill_group()
            return
        if self._ended_at is not None:
            # TensorFlow can take a minute to take its data pipelines down, with nothing left to do.
            if now - self._ended_at > bounds.exit_grace_seconds:
                self._terminate(now, None)
        elif self._stop_asked_at is not None:
            grace = bounds.stop_grace_seconds * (10 if dog.phase == "saving" else 1)
            if now - self._stop_asked_at > grace:
                self._terminate(
                    now,
                    f"It did not stop within {grace:g} s and was ended; a resume does again the "
                    "steps since its last checkpoint.",
                )

    def kill_group(self) -> None:
        """Kill it and every process it left in its group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Let go of the pipe, once it has ended."""
        if self._stop_pipe >= 0:
            os.close(self._stop_pipe)
        self._stop_pipe = -1

    def _terminate(self, now: float, note: str | None) -> None:
        self.note = note
        self._terminated_at = now
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGTERM)


def _start(
    run_dir: Path,
    launch: Launch,
    log: Path,
    environment: Mapping[str, str],
    fds: Sequence[int],
    waiting: WaitingTrainer | None,
) -> subprocess.Popen[bytes]:
    arguments = [str(run_dir / SCRIPT), "--run-dir", str(run_dir)]
    with log.open("ab") as output:
        if waiting is not None and waiting.begin(launch, arguments, (output.fileno(), *fds)):
            return waiting.process
        return subprocess.Popen(
            [launch.interpreter, "-u", *arguments],
            cwd=launch.working_dir,
            env=launch.environment() | {"WORKBENCH_STOP_FD": str(fds[0]), **environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=tuple(fds),
            process_group=0,
        )
