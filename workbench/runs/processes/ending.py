"""How a task is brought to an end: asked first, then ended, then killed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .bounds import Bounds


class TaskProcess(ABC):
    """The process of one task, wherever it runs. Time is handed in, in monotonic seconds."""

    def __init__(self) -> None:
        self.begun = ""
        """How it was started: `forked`, or `cold: why`; empty where that is not known."""
        self.note: str | None = None
        """What was done to end it before its work was."""
        self._stop_asked_at: float | None = None
        self._terminated_at: float | None = None
        self._ended_at: float | None = None

    @property
    @abstractmethod
    def exit_status(self) -> int | None:
        """Of a process that has ended; below zero by a signal."""

    @property
    @abstractmethod
    def peak_bytes(self) -> int | None:
        """The most memory that it has held; None where that is not told."""

    @property
    def suspended(self) -> bool:
        """Whether the system holds it, as after SIGSTOP, where that is told."""
        return False

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
        self._tell_to_stop()

    def escalate(self, now: float, bounds: Bounds, *, work_is_over: bool, is_saving: bool) -> None:
        """End it where it has had its time to end by itself.

        Args:
            now: the time.
            bounds: how much time it has for what.
            work_is_over: whether its task says that it has finished or stopped.
            is_saving: whether its task saves, or may: that takes longer.
        """
        if self._ended_at is None and work_is_over:
            self._ended_at = now
        if self._terminated_at is not None:
            if now - self._terminated_at > bounds.kill_grace_seconds:
                self.kill()
            return
        if self._ended_at is not None:
            # TensorFlow can take a minute to take its data pipelines down, with nothing left to do.
            if now - self._ended_at > bounds.exit_grace_seconds:
                self._end(now, None)
        elif self._stop_asked_at is not None:
            grace = bounds.stop_grace_seconds * (10 if is_saving else 1)
            if now - self._stop_asked_at > grace:
                self._end(
                    now,
                    f"It did not stop within {grace:g} s and was ended; a resume does again the "
                    "steps since its last checkpoint.",
                )

    @abstractmethod
    def kill(self) -> None:
        """Kill it and every process it left in its group."""

    @abstractmethod
    def close(self) -> None:
        """Let go of it, once it has ended."""

    @abstractmethod
    def wait(self) -> None:
        """Wait for the end of one that was killed."""

    @abstractmethod
    def _tell_to_stop(self) -> None: ...

    @abstractmethod
    def _terminate(self) -> None: ...

    def _end(self, now: float, note: str | None) -> None:
        self.note = note
        self._terminated_at = now
        self._terminate()
