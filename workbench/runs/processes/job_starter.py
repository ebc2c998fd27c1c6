"""The tasks of a run in a job of an engine: helpers on its hosts start them, files control them."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.launchers import Engine, JobStatus, LauncherError
from workbench.launchers.job import AttemptFolder, JobFolder

from .ending import TaskProcess
from .task_starter import TaskStarter

POLL_SECONDS = 2.0
"""The time between two questions to the engine about the job's status."""
LAST_FILES_SECONDS = 10.0
"""From the job's end until the last files of its helpers must have arrived."""
KILLED = -9
NOT_ASKED = (LauncherError, OSError, ValueError)
"""The errors of an engine that cannot be asked now, or of an unreadable shared folder."""
NOT_YET_ASKED = JobStatus("waiting", "SUBMITTED")


class Job:
    """A job that an engine has accepted. A thread checks it, so no caller waits for the engine."""

    def __init__(self, engine: Engine, folder: JobFolder, name: str) -> None:
        self.engine, self.folder, self.name = engine, folder, name
        self.error = ""
        """The reason why the engine could not be asked the last time; empty if it could."""
        self._status = NOT_YET_ASKED
        self._over_at: float | None = None
        self._closed = threading.Event()
        self._asked = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    @property
    def status(self) -> JobStatus:
        """The job's status at the last check."""
        return self._status

    def is_over(self, attempt: int) -> bool:
        """Return whether this attempt of the engine has ended and its last files must be here."""
        if self._is_in(attempt):
            self._over_at = None
            return False
        if self._over_at is None:
            self._over_at = time.monotonic()
        return time.monotonic() - self._over_at > LAST_FILES_SECONDS

    def settle(self, attempt: int, seconds: float) -> JobStatus:
        """Wait until this attempt is over, at most `seconds`; return the job's status."""
        until = time.monotonic() + seconds
        while self._is_in(attempt) and time.monotonic() < until:
            self._asked.clear()
            self._asked.wait(POLL_SECONDS)
        return self._status

    def cancel(self) -> None:
        """End the job; if the engine cannot be asked, note the reason in `error`."""
        try:
            self.engine.cancel(self.folder.path, self.name)
        except NOT_ASKED as error:
            self.error = str(error)

    def close(self) -> None:
        """Stop the checks of the job."""
        self._closed.set()

    def _is_in(self, attempt: int) -> bool:
        return self._status.attempt == attempt and self._status.phase == "running"

    def _watch(self) -> None:
        while not self._closed.is_set():
            try:
                found = self.engine.job_status(self.folder.path, self.name)
                forgotten = JobStatus("over", "FORGOTTEN", attempt=self._status.attempt)
                self._status = found or forgotten
                self.error = ""
            except NOT_ASKED as error:
                self.error = str(error)
            self._asked.set()
            self._closed.wait(POLL_SECONDS)


class JobTaskStarter(TaskStarter):
    """The follower of the helpers on the hosts of a job, which start its tasks by themselves."""

    job: Job

    def __init__(self, folder: JobFolder, attempt: int) -> None:
        self.attempt = attempt
        self.folder = AttemptFolder(folder.path / str(attempt))
        self._started: dict[str, int] = {}

    def choose_addresses(self, tasks: Sequence[str]) -> dict[str, Any]:
        """Leave the choice to the helpers, which know their hosts."""
        return {}

    def close(self) -> None:
        """Do nothing: all resources are held on the hosts."""

    def begun(self, tasks: Sequence[str]) -> bool:
        """Return whether a task has reported anything in this attempt."""
        return any(self.folder.message(task, "clock") for task in tasks)

    def start(self, task: str, log: Path) -> TaskProcess:
        """Follow the task that its helper has started; a later call has the task started again."""
        times = self._started.get(task, 0)
        if times:
            self.folder.ask(task, "again", str(times))
        self._started[task] = times + 1
        return JobProcess(self, task, times)


class JobProcess(TaskProcess):
    """The process of a task on a host of the job."""

    def __init__(self, starter: JobTaskStarter, task: str, times: int) -> None:
        super().__init__()
        self._starter, self._task, self._times = starter, task, times
        self._ended: dict[str, int] | None = None

    @property
    def exit_status(self) -> int | None:
        """The exit status that its helper reports; as after a kill if the job ended without one."""
        if self._ended is None:
            report = json.loads(self._starter.folder.message(self._task, "exit") or "{}")
            if report.get("started") == self._times:
                self._ended = report
            elif self._starter.job.is_over(self._starter.attempt):
                self._ended = {"status": KILLED, "peak_bytes": 0}
        return None if self._ended is None else self._ended["status"]

    @property
    def peak_bytes(self) -> int | None:
        """The peak memory in bytes that its helper reports at the end."""
        return (self._ended or {}).get("peak_bytes")

    def kill(self) -> None:
        """Ask its helper to end the process."""
        self._starter.folder.ask(self._task, "end")

    def close(self) -> None:
        """Do nothing: no resources are held here."""

    def wait(self) -> None:
        """Wait until its helper reports that the process has ended, or until its job is over."""
        until = time.monotonic() + 2 * LAST_FILES_SECONDS
        while self.exit_status is None and time.monotonic() < until:
            time.sleep(0.1)

    def _request_stop(self) -> None:
        self._starter.folder.ask(self._task, "stop")

    def _terminate(self) -> None:
        self._starter.folder.ask(self._task, "end")
