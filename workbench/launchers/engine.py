"""What every engine can be asked: whether it can be reached, to take a job, and how that goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from workbench.config import Problem, RunConfig

HAND = "hand.py"
"""In a job's folder: what starts each task on its host."""

RESTARTS = 3
"""How often tasks are begun anew after one was killed or lost, unless the config says it."""

Phase = Literal["waiting", "running", "over"]


class LauncherError(Exception):
    """An engine did not do what was asked of it: the rule, what it said, what to change."""


@dataclass(frozen=True)
class Reach:
    """Whether an engine can be used from this machine."""

    reachable: bool
    words: str
    """What it has, or why it cannot be reached and what to change."""


@dataclass(frozen=True)
class JobStatus:
    """How a job stands, as its engine tells it."""

    phase: Phase
    state: str
    """The engine's own word."""
    why: str = ""
    """Why it waits or how it ended, in the engine's words; empty where it says nothing."""
    hosts: str = ""
    attempt: int = 0
    """How often the engine has begun it anew."""


class Engine(Protocol):
    """Where tasks run other than as children of their supervisor."""

    name: str

    def python(self, config: RunConfig) -> str:
        """Return the Python that trains there."""

    def reach(self, config: RunConfig) -> Reach:
        """Ask whether it can be reached, within a few seconds."""

    def problems(self, config: RunConfig, tasks: Sequence[str]) -> list[Problem]:
        """Return why it would never begin these tasks; each beside the field to change."""

    def submit(self, job_dir: Path, config: RunConfig, tasks: Sequence[str]) -> str:
        """Give it the job that is written in a folder; return the engine's name for it.

        Raises:
            LauncherError: it did not take the job.
        """

    def look(self, job_dir: Path, job: str) -> JobStatus | None:
        """Return how the job stands; None where it knows of none.

        Raises:
            LauncherError: it cannot be asked now.
        """

    def cancel(self, job_dir: Path, job: str) -> None:
        """End the job, whether it waits or runs; one that is over already stays as it is.

        Raises:
            LauncherError: it cannot be asked now.
        """
