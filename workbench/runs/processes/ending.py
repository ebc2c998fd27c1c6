"""The end of a task's process: first asked to stop, then ended, then killed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .bounds import Bounds


class TaskProcess(ABC):
    """The process of one task, on any machine. The caller passes the time, in monotonic seconds."""

    def __init__(self) -> None:
        self.begun = ""
        """How the process was started: `forked`, or `cold: why`; empty if that is unknown."""
        self.note: str | None = None
        """A note on how the process was ended before its work was over."""
        self._stop_asked_at: float | None = None
        self._terminated_at: float | None = None
        self._ended_at: float | None = None

    @property
    @abstractmethod
    def exit_status(self) -> int | None:
        """The exit status of a process that has ended; below zero if a signal ended it."""

    @property
    @abstractmethod
    def peak_bytes(self) -> int | None:
        """The peak memory of the process in bytes; None if that is unknown."""

    @property
    def suspended(self) -> bool:
        """Whether the system has suspended the process, as after SIGSTOP, if that is known."""
        return False

    @property
    def stopping(self) -> bool:
        """Whether the process was asked to stop."""
        return self._stop_asked_at is not None

    @property
    def terminated(self) -> bool:
        """Whether the process was ended because its time to end by itself was over."""
        return self._terminated_at is not None

    def ask_to_stop(self, now: float) -> None:
        """Ask the process to finish the current call, save and end."""
        self._stop_asked_at = now
        self._request_stop()

    def escalate(self, now: float, bounds: Bounds, *, work_is_over: bool, is_saving: bool) -> None:
        """End the process if its time to end by itself is over.

        Args:
            now: the time, in monotonic seconds.
            bounds: the time limits of the process.
            work_is_over: whether the task has reported that it finished or stopped.
            is_saving: whether the task saves, or may save: that takes longer.
        """
        if self._ended_at is None and work_is_over:
            self._ended_at = now
        if self._terminated_at is not None:
            if now - self._terminated_at > bounds.kill_grace_seconds:
                self.kill()
            return
        if self._ended_at is not None:
            # TensorFlow can need a minute to close its data pipelines, with no work left to do.
            if now - self._ended_at > bounds.exit_grace_seconds:
                self._end(now, None)
        elif self._stop_asked_at is not None:
            grace = bounds.stop_grace_seconds * (10 if is_saving else 1)
            if now - self._stop_asked_at > grace:
                self._end(
                    now,
                    f"It did not stop within {grace:g} s and was ended; a resume repeats the "
                    "steps since its last checkpoint.",
                )

    @abstractmethod
    def kill(self) -> None:
        """Kill the process and every process that it left in its group."""

    @abstractmethod
    def close(self) -> None:
        """Release the resources of the process, once it has ended."""

    @abstractmethod
    def wait(self) -> None:
        """Wait for the end of a killed process."""

    @abstractmethod
    def _request_stop(self) -> None: ...

    @abstractmethod
    def _terminate(self) -> None: ...

    def _end(self, now: float, note: str | None) -> None:
        self.note = note
        self._terminated_at = now
        self._terminate()
