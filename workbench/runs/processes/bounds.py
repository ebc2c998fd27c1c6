"""The time limits after which a process is given up or ended."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bounds:
    """The time limits of the supervisor, in seconds."""

    poll_seconds: float = 0.2
    stop_grace_seconds: float = 60.0
    """From the stop request until SIGTERM; ten times as long while a checkpoint is written."""
    kill_grace_seconds: float = 5.0
    """From SIGTERM to SIGKILL."""
    exit_grace_seconds: float = 3.0
    """From the trainer's last event, finished or stopped, until its process is ended."""
    stall_floor_seconds: float = 15.0
    stall_factor: float = 10.0
    """A task is stalled if it is silent for this many median calls, and at least the floor."""
    rendezvous_seconds: float = 180.0
    """From the first task that is ready for the others until all have met."""
    last_words_seconds: float = 2.0
    """From a task's failure on; in this time the others notice it and write that to their logs."""
    archive_every_seconds: float = 30.0
    """From the end of a copy to the archive to the next; a new checkpoint starts it earlier."""
    archive_slow_seconds: float = 60.0
    """How long a copy may take before the delay is recorded."""
    archive_last_seconds: float = 600.0
    """How long the last copy is tried after the run is over."""
