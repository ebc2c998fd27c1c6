"""The files of an engine's job in a run's folder: requests to its helpers, and their messages."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import task_helper
from .engine import HELPER

JOBS = "jobs"
_ENGINE = "engine.json"
_WORDS = re.compile(r"^(\d+): (?!slurmstepd|INFO|WARNING)(.+)$", re.MULTILINE)
"""A line in the log of an engine after its task's number, but no news of Slurm or Apptainer."""


@dataclass(frozen=True)
class JobFolder:
    """`RUN/jobs/NUMBER`: one job, with a folder inside for each attempt of its engine."""

    path: Path

    @classmethod
    def newest(cls, run_dir: Path) -> JobFolder | None:
        """Return the folder of the run's last job; None if the run has had no job."""
        found = sorted(path for path in (run_dir / JOBS).glob("*") if (path / _ENGINE).exists())
        return cls(found[-1]) if found else None

    @classmethod
    def make(cls, run_dir: Path) -> JobFolder:
        """Make the next job's folder, with the task helper itself.

        Raises:
            OSError: the folder cannot be written.
        """
        number = 1 + len(list((run_dir / JOBS).glob("*")))
        path = run_dir / JOBS / f"{number:04d}"
        path.mkdir(parents=True)
        shutil.copy(task_helper.__file__, path / HELPER)
        return cls(path)

    def describe(self, values: Mapping[str, Any]) -> None:
        """Write what the helpers read, `job.json`.

        Raises:
            OSError: it cannot be written.
        """
        text = json.dumps(dict(values), indent=2)
        (self.path / "job.json").write_text(text, encoding="utf-8")

    def note(self, engine: str, job: str) -> None:
        """Record the engine that has taken the job, and the engine's name for the job."""
        text = json.dumps({"engine": engine, "job": job})
        (self.path / _ENGINE).write_text(text, encoding="utf-8")

    @property
    def noted(self) -> dict[str, str]:
        """The engine that has taken the job, and the engine's name for the job."""
        values: dict[str, str] = json.loads((self.path / _ENGINE).read_text(encoding="utf-8"))
        return values

    @property
    def output(self) -> str:
        """The end of the engine's own log of the job, apart from the tasks' logs."""
        return self._log()[-4000:]

    def last_words(self, tasks: Sequence[str]) -> tuple[str, str] | None:
        """Return the last line of a task in the engine's own log, after the task's name.

        A helper writes there only if it cannot use the run's folder, and a shell if it cannot start
        a helper. The result is None if there is no such line.
        """
        words = [(int(number), text) for number, text in _WORDS.findall(self._log())]
        return next(((tasks[at], text) for at, text in reversed(words) if at < len(tasks)), None)

    def _log(self) -> str:
        logs = sorted(self.path.glob("*.log"))
        return logs[-1].read_text(encoding="utf-8", errors="replace") if logs else ""


@dataclass(frozen=True)
class AttemptFolder:
    """`RUN/jobs/NUMBER/ATTEMPT`: the messages between supervisor and helpers; see `task_helper`."""

    path: Path

    def ask(self, task: str, what: str, text: str = "") -> None:
        """Write a request to a task's helper."""
        with contextlib.suppress(FileExistsError):
            self.path.mkdir()
        part = self.path / f"{task}.{what}.part"
        part.write_text(text, encoding="utf-8")
        part.replace(self.path / f"{task}.{what}")

    def message(self, task: str, what: str) -> str | None:
        """Return a message of a task's helper; None if it has not written the message."""
        # The file is opened again each time, so that NFS asks its server.
        with contextlib.suppress(FileNotFoundError):
            return (self.path / f"{task}.{what}").read_text(encoding="utf-8")
        return None

    def addresses(self, tasks: Sequence[str]) -> dict[str, str]:
        """Return the addresses of the tasks that have reported one."""
        addresses = {task: self.message(task, "address") for task in tasks}
        return {task: address for task, address in addresses.items() if address is not None}

    def clock_ahead_seconds(self, task: str) -> float | None:
        """Return how far a task's host's clock is ahead of this host's; None if it is unknown.

        Both hosts write their clock's time into a file. The shared disk gives each file the disk's
        own time, to compare with.
        """
        if (clock := self.message(task, "clock")) is None:
            return None
        self.ask("supervisor", "clock", repr(time.time()))
        return self._ahead(task, float(clock)) - self._ahead(
            "supervisor", float(self.message("supervisor", "clock") or 0.0)
        )

    def _ahead(self, who: str, clock: float) -> float:
        return clock - (self.path / f"{who}.clock").stat().st_mtime
