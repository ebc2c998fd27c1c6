"""How long is waited for what, before a process is given up or ended."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bounds:
    """How long the supervisor waits for what, in seconds."""

    poll_seconds: float = 0.2
    stop_grace_seconds: float = 60.0
    """From the request to stop until SIGTERM; a checkpoint being written may take ten times it."""
    kill_grace_seconds: float = 5.0
    """From SIGTERM to SIGKILL."""
    exit_grace_seconds: float = 3.0
    """From the trainer's last event, finished or stopped, until its process is ended."""
    stall_floor_seconds: float = 15.0
    stall_factor: float = 10.0
    """A task stalls when it is silent for this many median calls, and at least the floor."""
    rendezvous_seconds: float = 180.0
    """From the first task that is ready for the others until all have met."""
    last_words_seconds: float = 2.0
    """From a task's failure on: the others find out by themselves, and say so in their logs."""
    archive_every_seconds: float = 30.0
    """From the end of a copy to the archive to the next, which a new checkpoint brings forward."""
    archive_slow_seconds: float = 60.0
    """How long a copy may take before that is told."""
    archive_last_seconds: float = 600.0
    """How long the last copy is tried when the run is over."""
