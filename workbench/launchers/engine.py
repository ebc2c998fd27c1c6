"""The interface of every engine: check whether it can be reached, submit a job and follow it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from workbench.config import Problem, RunConfig

HELPER = "task_helper.py"
"""The program in a job's folder that starts each task on its host."""

RESTARTS = 3
"""How often tasks are restarted after a task was killed or lost, unless the config sets it."""

Phase = Literal["waiting", "running", "over"]


class LauncherError(Exception):
    """An engine did not carry out a request. The message gives the rule, the answer and the fix."""


@dataclass(frozen=True)
class Reach:
    """Whether an engine can be used from this machine."""

    reachable: bool
    summary: str
    """The engine's resources, or why it cannot be reached and what to change."""


@dataclass(frozen=True)
class JobStatus:
    """The state of a job, as its engine reports it."""

    phase: Phase
    state: str
    """The engine's own word for the state."""
    why: str = ""
    """Why the job waits or how it ended, in the engine's words; empty if the engine gives none."""
    hosts: str = ""
    attempt: int = 0
    """How often the engine has restarted the job."""


class Engine(Protocol):
    """A system that runs tasks, so that they are not children of their supervisor."""

    name: str

    def python(self, config: RunConfig) -> str:
        """Return the Python that trains there."""

    def reach(self, config: RunConfig) -> Reach:
        """Check whether the engine can be reached, within a few seconds."""

    def problems(self, config: RunConfig, tasks: Sequence[str]) -> list[Problem]:
        """Return why the engine would never start these tasks, each with the field to change."""

    def preview(self, config: RunConfig, tasks: Sequence[str], job_dir: Path) -> str:
        """Return the text that the engine is given for a job in this folder; empty if none."""

    def submit(self, job_dir: Path, config: RunConfig, tasks: Sequence[str]) -> str:
        """Submit the job that is written in a folder; return the engine's name for it.

        Raises:
            LauncherError: the engine did not take the job.
        """

    def job_status(self, job_dir: Path, job: str) -> JobStatus | None:
        """Return the job's state; None if the engine does not know the job.

        Raises:
            LauncherError: the engine cannot be asked now.
        """

    def cancel(self, job_dir: Path, job: str) -> None:
        """End the job, whether it waits or runs. A job that is over already stays unchanged.

        Raises:
            LauncherError: the engine cannot be asked now.
        """
