"""The starters of a run's tasks: on this machine, or as a job of an engine."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from workbench.runs.folder.tasks import environments

from .ending import TaskProcess
from .environment import Launch
from .forks import Forks
from .local_process import LocalProcess


class TaskStarter(ABC):
    """The starter of the processes of one attempt's tasks."""

    @abstractmethod
    def choose_addresses(self, tasks: Sequence[str]) -> dict[str, Any]:
        """Choose the addresses of the tasks; return the TF_CONFIG of each task, if it is known.

        Raises:
            OSError: there is no free port.
        """

    @abstractmethod
    def start(self, task: str, log: Path) -> TaskProcess:
        """Start a task, or start it again.

        Raises:
            OSError: its process cannot be started.
        """

    @abstractmethod
    def close(self) -> None:
        """Release the resources held for the tasks, once all have ended."""


class LocalTaskStarter(TaskStarter):
    """The starter of tasks as processes of this machine, which hold the given locks too."""

    def __init__(
        self, run_dir: Path, launch: Launch, held_fds: Sequence[int], forks: Forks
    ) -> None:
        self._run_dir, self._launch, self._held_fds = run_dir, launch, tuple(held_fds)
        self._forks = forks
        self._environments: dict[str, dict[str, str]] = {}
        self._ports = ExitStack()

    def choose_addresses(self, tasks: Sequence[str]) -> dict[str, Any]:
        """Choose free ports of this machine."""
        self._environments = environments(tasks, self._ports)
        return {
            task: json.loads(values["TF_CONFIG"])
            for task, values in self._environments.items()
            if "TF_CONFIG" in values
        }

    def start(self, task: str, log: Path) -> TaskProcess:
        """Start the task's process on this machine."""
        environment = self._environments[task]
        folder = self._run_dir / task
        return LocalProcess(folder, self._launch, log, environment, self._held_fds, self._forks)

    def close(self) -> None:
        """Release the ports."""
        self._ports.close()
