"""The supervisor of a run whose tasks are a job of an engine.

It gives the job to the engine, or finds the job that an earlier supervisor gave to the engine. It
follows the job through the run's folder. The job needs no supervisor to go on.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from workbench.launchers import ENGINES, JobStatus, LauncherError
from workbench.launchers.job import JobFolder
from workbench.runs.folder.clocks import CLOCK_SECONDS
from workbench.runs.folder.clocks import DIFFERS as CLOCK_DIFFERS
from workbench.runs.folder.files import SCRIPT, RunError, sha256
from workbench.runs.folder.tasks import tf_configs
from workbench.runs.processes.environment import pack_observer
from workbench.runs.processes.job_starter import NOT_YET_ASKED, Job, JobTaskStarter

from .diagnosis import blame_disk, known_reason
from .supervisor import Supervisor
from .task_group import TaskGroup

if TYPE_CHECKING:
    from workbench.runs.processes.bounds import Bounds

_NEVER_MET = re.compile(r"were stopped before they met|did not connect")
"""The causes of tasks that met no others: the other tasks may have a cause of their own."""
STILL: dict[str, Any] = {"behind": []}
SETTLE_SECONDS = 60.0
"""How long a job may take to be over for its engine after its tasks have ended."""


class JobSupervisor(Supervisor):
    """The supervisor of one run whose tasks are a job of an engine."""

    def __init__(self, run_dir: Path, bounds: Bounds, lock_fd: int) -> None:
        super().__init__(run_dir, bounds, lock_fd)
        self.devices = ()
        self.config = self.plan.config
        self.engine = ENGINES[self.config.launcher]
        self.tasks = self.plan.tasks

    def _train(self, ticket_fd: int) -> None:
        try:
            job, group = self._job_that_lives() or self._submit()
        except (LauncherError, OSError) as error:
            fix = "Fix this error, then resume the run."
            self._state("failed", task=self.engine.name, cause=str(error), fix=fix, log="")
            return
        try:
            self._state(**self._follow(job, group))
        finally:
            job.close()

    def _job_that_lives(self) -> tuple[Job, TaskGroup] | None:
        """Return the job that an earlier supervisor gave to the engine, if it still goes on."""
        folder = JobFolder.newest(self.dir)
        if folder is None:
            return None
        name = folder.noted["job"]
        status = self.engine.job_status(folder.path, name)
        if status is None or status.phase == "over":
            return None
        group = self._group(folder, status.attempt, begun=status.phase == "running")
        return Job(self.engine, folder, name), group

    def _submit(self) -> tuple[Job, TaskGroup]:
        folder = JobFolder.make(self.dir)
        folder.describe(self._job_values(folder.path))
        group = self._group(folder, 0)  # before its tasks can start, so that no event is missed
        name = self.engine.submit(folder.path, self.config, self.tasks)
        folder.note(self.engine.name, name)
        return Job(self.engine, folder, name), group

    def _group(self, folder: JobFolder, attempt: int, *, begun: bool = False) -> TaskGroup:
        starter = JobTaskStarter(folder, attempt)
        interpreter = self.launch.interpreter
        return TaskGroup(self.dir, self.plan, starter, interpreter, self.bounds, begun=begun)

    def _job_values(self, job_dir: Path) -> dict[str, Any]:
        script = self.launch.command(self.dir, pack_observer(job_dir))
        return {
            "run_dir": str(self.dir),
            "tasks": self.tasks,
            "command": [self.engine.python(self.config), "-u", *script],
            "working_dir": str(self.launch.working_dir),
            "environment": self.launch.added,
            "unset": self.launch.unset,
            "module_dirs": [str(folder) for folder in self.launch.module_dirs],
            "meet_seconds": self.bounds.rendezvous_seconds,
        }

    def _follow(self, job: Job, group: TaskGroup) -> dict[str, Any]:
        """Follow the job, also each time its engine restarts it; return the state it ends in."""
        while True:
            status = self._wait_for_hosts(job)
            if status is None:
                job.cancel()
                return {"state": "stopped", "note": f"Stopped while job {job.name} waited."}
            starter = cast("JobTaskStarter", group.starter)
            if status.phase == "over" and not starter.begun(self.tasks):
                return self._never_begun(job, status)
            ended = self._follow_once(job, group, status)
            settled = job.settle(status.attempt, SETTLE_SECONDS)
            if settled.attempt == status.attempt and settled.phase != "waiting":
                return self._with_engine_report(ended, settled)
            if self._stop_asked():
                job.cancel()
                return ended
            self._note_restart(self._why_ended(ended))
            group = self._group(job.folder, max(settled.attempt, status.attempt + 1))

    def _why_ended(self, ended: dict[str, Any]) -> str:
        """Return the cause of the end of an attempt that another one follows."""
        if ended["state"] == "failed":
            return f"{ended['task']}: {ended['cause']}"
        return f"{self.engine.name.title()} started the job again."

    def _wait_for_hosts(self, job: Job) -> JobStatus | None:
        """Return the job's status once it no longer waits; None if a stop is asked for."""
        waited_for = ""
        while job.status.phase == "waiting":
            if self._stop_asked():
                return None
            status = job.status
            why = job.error or status.why or status.state.lower()
            if why != waited_for and status is not NOT_YET_ASKED:
                waits = f"{self.engine.name.title()} job {job.name} waits: {why}."
                note = " ".join(filter(None, (self.why_restarted.get("note"), waits)))
                # A state without `behind` begins an attempt: here, if the engine restarts the job.
                begins = status.attempt > 0 and not waited_for
                self._state("queued", job=job.name, note=note, **({} if begins else STILL))
                waited_for = why
            self._sleep()
        return job.status

    def _follow_once(self, job: Job, group: TaskGroup, status: JobStatus) -> dict[str, Any]:
        """Follow one attempt of the engine; return the state in which it ended."""
        starter = cast("JobTaskStarter", group.starter)
        starter.job = job
        facts = {
            "script_sha256": self._script_sha256(),
            "supervisor_pid": os.getpid(),
            "job": job.name,
            "hosts": status.hosts,
            **self.why_restarted,
        }
        self._state("starting", **facts)
        group.start(time.monotonic())
        try:
            self._meet(group, starter, facts)
            self._watch(group)
        finally:
            group.end(time.monotonic())
        self._note_memory(group)
        ended = blame_disk(group.conclusion(), self.dir)
        unexplained = "signal" in ended or _NEVER_MET.search(ended.get("cause", ""))
        if unexplained and not self._trained(starter):
            return self._blamed_on_helper(job) or ended
        return ended

    def _trained(self, starter: JobTaskStarter) -> bool:
        """Return whether the helpers have got as far as the start of train.py."""
        last = "met" if len(self.tasks) > 1 else "clock"
        return any(starter.folder.message(task, last) for task in self.tasks)

    def _meet(self, group: TaskGroup, starter: JobTaskStarter, facts: dict[str, Any]) -> None:
        """Record the addresses at which several tasks have met, and tasks whose clock differs."""
        what = "clock" if len(self.tasks) == 1 else "address"
        serving = [task for task in self.tasks if not task.startswith("evaluator")]
        while not all(starter.folder.message(task, what) for task in serving):
            self._poll(group, time.monotonic())
            if group.is_over(time.monotonic()) or self._stop_asked():
                return
            self._sleep()
        if what == "address":
            configs = tf_configs(self.tasks, starter.folder.addresses(serving))
            self._state("starting", **facts, tf_configs=configs)
        for task in self.tasks:
            ahead = starter.folder.clock_ahead_seconds(task)
            if ahead is not None and abs(ahead) > CLOCK_SECONDS:
                self.events.write(CLOCK_DIFFERS, task=task, ahead_seconds=round(ahead, 3))

    def _blamed_on_helper(self, job: Job) -> dict[str, Any] | None:
        """Return the end of a job of which a helper could not start a task; None without a hint."""
        words = job.folder.last_words(self.tasks)
        if words is None:
            return None
        task, cause = words
        why, fix = known_reason(cause, self.launch.interpreter)
        cause = f"{why} {cause}".lstrip()
        log = job.folder.output
        return {"state": "failed", "task": task, "cause": cause, "fix": fix, "log": log}

    def _never_begun(self, job: Job, status: JobStatus) -> dict[str, Any]:
        if ended := self._blamed_on_helper(job):
            return ended
        why = f": {status.why}" if status.why else ""
        return {
            "state": "failed",
            "task": self.engine.name,
            "cause": f"Job {job.name} ended before its tasks started; {self.engine.name.title()} "
            f"reports {status.state}{why}.",
            "fix": "Read the log; if it is empty, check that the run's folder is on a disk that "
            "the hosts share and can write to. Then resume the run.",
            "log": job.folder.output,
        }

    def _with_engine_report(self, ended: dict[str, Any], status: JobStatus) -> dict[str, Any]:
        """Add the engine's report of the job's end, if that ended the run."""
        if ended["state"] == "finished" or status.state in ("COMPLETED", "RUNNING", "COMPLETING"):
            return ended
        report = f"{self.engine.name.title()} ended the job: {status.state}."
        if ended["state"] == "stopped":
            return (
                ended
                if self._stop_asked()
                else {**ended, "note": f"{report} Resume the run to continue."}
            )
        if status.state == "FAILED":
            return ended
        return {**ended, "cause": f"{report} {ended['cause']}"}

    def _script_sha256(self) -> str:
        with contextlib.suppress(OSError):
            return sha256((self.dir / SCRIPT).read_text(encoding="utf-8"))
        raise RunError(f"There is no {SCRIPT} in {self.dir}. Put it back.")
