"""The `Run` class for users: the data of a run, its progress, and the actions on it."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.fields import LOCAL
from workbench.runs.copying.copies import COPY_EVENTS, Copies, copies_log, read_copies
from workbench.runs.folder.archive import is_copy
from workbench.runs.folder.card import read_card
from workbench.runs.folder.checkpoints import resume_step
from workbench.runs.folder.clocks import task_events
from workbench.runs.folder.events import Event, read_events
from workbench.runs.folder.failure import Failure, read_failure
from workbench.runs.folder.files import (
    KILL,
    RunError,
    full_path,
    read_json,
    read_script,
    runs_root,
    unwritable,
    write_text,
)
from workbench.runs.folder.logs import log_tail
from workbench.runs.folder.plan import read_plan
from workbench.runs.folder.state import (
    LIVE,
    Status,
    alive_error,
    home_of,
    is_alive,
    run_lock,
    status,
    supervisor_events,
    take_lock,
)
from workbench.runs.folder.trust import is_trusted, was_started

from .title import title_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import pandas as pd

    from workbench.config import RunConfig
    from workbench.devices import Devices
    from workbench.plan import Plan
    from workbench.runs.programs.step_xray import StepXray, WorkersXray
    from workbench.runs.records.cache import Totals
    from workbench.runs.records.history import History
    from workbench.runs.records.ledger import Ledger
    from workbench.runs.records.progress import Progress

    from .summary import Summary

WAIT_POLL_SECONDS = 0.1


class Run:
    """One run. Each access reads the run's folder again, so no value becomes outdated.

    Every reader raises a `RunError` if the folder is missing or one of its files is damaged.
    """

    def __init__(
        self, run_dir: str | os.PathLike[str], runs_dir: str | os.PathLike[str] | None = None
    ) -> None:
        """Open the run in `run_dir`.

        `runs_dir` is the folder to which a copy in an archive is restored; see `runs_root`.
        """
        self.runs_dir = runs_dir
        self.dir = Path(run_dir).absolute()
        card = read_card(self.dir)
        self.id = self.dir.name
        """The name of the run's folder, so a copy of a folder is a separate run."""
        self.name = card.name
        """The name that the user gave the run; may be empty."""
        self.created = card.created
        """Seconds since 1970."""

    def __repr__(self) -> str:
        return f"Run({str(self.dir)!r})"

    @property
    def title(self) -> str:
        """The run's name, else model, strategy, unusual settings and start; see `title_of`."""
        return title_of(self.dir, self.name, self.created)

    @property
    def dated_title(self) -> str:
        """The title for texts that are read on other days: a start always has its date."""
        return title_of(self.dir, self.name, self.created, dated=True)

    @property
    def status(self) -> Status:
        """The state: queued, starting, running, stopping, finished, stopped, failed or lost."""
        return status(self.dir)

    @property
    def alive(self) -> bool:
        """Whether the run's supervisor or its trainer is alive."""
        return is_alive(self.dir)

    @property
    def config(self) -> RunConfig:
        """The config that the user asked for."""
        return self.plan.config

    @property
    def plan(self) -> Plan:
        """The plan to which the config was resolved."""
        return read_plan(self.dir)

    @property
    def devices(self) -> Devices | None:
        """The devices of the machine and the interpreter at planning time; None if unknown."""
        from workbench.devices import Devices

        path = self.dir / "devices.json"
        return Devices.from_json(read_json(path)) if path.exists() else None

    @property
    def tasks(self) -> tuple[str, ...]:
        """The names of the run's tasks, such as `worker-0`; the first task leads."""
        return self.plan.tasks

    @property
    def script(self) -> str:
        """The text of train.py as it is now."""
        return read_script(self.dir)

    @property
    def failure(self) -> Failure | None:
        """The reason why the run failed or was lost; None in every other state."""
        return read_failure(self.dir)

    @property
    def progress(self) -> Progress:
        """The progress of the run, from a few small reads."""
        from workbench.runs.records.progress import read_progress

        return read_progress(self.dir)

    @property
    def summary(self) -> Summary:
        """What lists, cards and pages show of the run, from a few small reads."""
        from .summary import read_summary

        return read_summary(self.dir)

    @property
    def ledger(self) -> Ledger:
        """The ledger: how the run spent its time, until now or until its end."""
        from workbench.runs.records.ledger import read_ledger

        return read_ledger(self.dir)

    @property
    def totals(self) -> Totals:
        """The run's speed in the steady state and its duration, until now or until its end."""
        from workbench.runs.records.cache import read_totals

        return read_totals(self.dir)

    @property
    def peak_bytes(self) -> dict[str, int]:
        """The peak memory of each task on the host in bytes, once an attempt is over."""
        from workbench.runs.processes.peak_memory import read_peak_bytes

        return read_peak_bytes(self.dir)

    @property
    def device_peak_bytes(self) -> dict[str, dict[str, int]]:
        """The peak memory of each task on each GPU or TPU; see `read_device_peak_bytes`."""
        from workbench.runs.processes.peak_memory import read_device_peak_bytes

        return read_device_peak_bytes(self.dir, self.tasks)

    @property
    def copies(self) -> Copies | None:
        """The state of the run's copies in an archive; None if there are none."""
        return read_copies(self.dir)

    @property
    def missing(self) -> list[tuple[int, int]]:
        """Ranges (first, last) of steps done but not recorded, from 1, both ends included."""
        return self._history.missing()

    def stop(self) -> None:
        """Ask the run to finish its call, save and end.

        The method returns immediately. It does nothing if the run is over.

        Raises:
            RunError: the run folder cannot be written.
        """
        if self.status not in LIVE:
            return
        try:
            (home_of(self.dir) / "stop").touch()
        except OSError as error:
            raise unwritable(home_of(self.dir) / "stop", error) from error

    @property
    def killable(self) -> bool:
        """Whether a task can be killed. It then starts again as a process of this machine."""
        config = self.config
        return bool(config.restarts) and config.launcher == LOCAL and len(self.tasks) > 1

    def kill(self, task: str) -> None:
        """Have a task killed, as if its machine was lost; see `restarts_alone` for what follows.

        Raises:
            RunError: the run has no such task, it does not restart its tasks, it does not train,
                or its folder cannot be written.
        """
        if task not in self.tasks:
            raise RunError(f"{self.id} has no task {task!r}. Name one of: {', '.join(self.tasks)}.")
        if not self.killable:
            raise RunError(
                f"{self.id} would not start a killed task again. Start a run of several tasks on "
                "this machine, with restarts above 0."
            )
        if self.status != "running":
            raise RunError(f"{self.id} is {self.status}. Kill a task while the run trains.")
        write_text(home_of(self.dir) / KILL, task)

    def restarts_alone(self, task: str) -> bool:
        """Return whether only this task starts again after a kill, and the others go on.

        Otherwise all tasks start again from the last checkpoint.
        """
        return self.plan.restarts_alone(task)

    def wait(self, timeout_seconds: float | None = None) -> Status:
        """Wait until the run is over, or until the time is up, and return its state then."""
        deadline = None if timeout_seconds is None else time.monotonic() + timeout_seconds
        while (state := self.status) in LIVE:
            if deadline is not None and time.monotonic() > deadline:
                break
            time.sleep(WAIT_POLL_SECONDS)
        return state

    def resume(self, epochs: int | None = None, workers: int | None = None) -> Run:
        """Resume the run from its last checkpoint; a finished run needs more `epochs` than before.

        `epochs` is the total number of epochs. A synchronous run can resume with another number
        of `workers`: the global batch size stays the same, and so does the curve.

        The copy of a run in an archive is restored first; see `restore_run`.

        Raises:
            PlanError: the run cannot be planned with these values.
            RunError: the run is alive, the run is finished and `epochs` is not larger, its
                strategy has no workers to change, or a script edited by hand would be overwritten.
        """
        from .copying.restore import restore
        from .resume import resume

        home = restore(self.dir, runs_root(self.runs_dir)) if is_copy(self.dir) else self.dir
        resume(home, epochs, workers)
        return Run(home)

    @property
    def resume_step(self) -> int | None:
        """The step at which a resume goes on: 0 without a checkpoint; None if it is not known."""
        return resume_step(self.dir)

    def pack(self, path: str | os.PathLike[str] | None = None) -> Path:
        """Write the run to a zip file and return the file's path; see `pack.pack`.

        If `path` is None, the file is next to the run's folder.
        """
        from workbench.runs.copying.pack import pack

        return pack(self.dir, full_path(path or f"{self.dir}.zip"))

    def delete(self) -> None:
        """Remove the run's folder with all its content; a job that outlived the run is ended first.

        Only the job of a run that this machine started is ended: the folder of a run from elsewhere
        can name any job. A job of such a run ends itself soon after its files are gone.

        Raises:
            RunError: the run is alive, its folder is a link, its job's engine cannot be asked, or
                the folder cannot be removed.
        """
        from workbench.runs.supervise.job_ending import end_job

        if self.dir.is_symlink():
            raise RunError(
                f"{self.dir} is a link to {self.dir.resolve()}. Delete the run there, and remove "
                "the link."
            )
        lost = self.status == "lost"
        path = run_lock(self.dir)
        lock = take_lock(self.dir, foreign=not was_started(self.dir))
        if lock is None:
            raise alive_error(self.dir, "deleted")
        hidden = self.dir.with_name(f".deleted-{self.dir.name}")
        try:
            if lost and is_trusted(self.dir):
                end_job(self.dir)
            self.dir.rename(hidden)
            shutil.rmtree(hidden)
            path.unlink(missing_ok=True)
        except OSError as error:
            raise unwritable(self.dir, error) from error
        finally:
            os.close(lock)

    def replica_steps(self, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Return a row for each replica of each recorded step; see `frames.replica_frame`.

        The first step is step 1, as everywhere.
        """
        return self._history.replica_steps(columns)

    def steps(self, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Return a row for each step, over all replicas weighted by examples.

        The first step is step 1. See `frames.step_frame`.
        """
        return self._history.steps(columns)

    @property
    def scalars(self) -> tuple[str, ...]:
        """The columns of `replica_steps` and `steps` for other numbers that steps reported."""
        return self._history.scalars()

    def epochs(self) -> pd.DataFrame:
        """Return a row for each ended epoch, train and test; see `frames.epoch_frame`."""
        return self._history.epochs()

    def step_seconds(self) -> np.ndarray:
        """Return the seconds of each steady step, float64; see `History.step_seconds`."""
        return self._history.step_seconds()

    def staleness(self) -> pd.DataFrame:
        """Return the staleness of each step of a ParameterServer run; see `staleness`.

        The table is empty for a synchronous run.
        """
        return self._history.staleness()

    def figure(self) -> Any:
        """Return a plotly figure of loss, accuracy and throughput as they are now."""
        from workbench import charts
        from workbench.runs.records.live import LiveRun

        live = LiveRun(self.dir, self.plan)
        for _ in range(2):  # the second poll gives the steps whose time is not recorded
            live.poll()
        return charts.run_figure(live.points(), live.epochs(), virtual=self.plan.virtual)

    def events(self) -> list[Event]:
        """Return all events in order of time; `task` is the writer: task, supervisor, archive.

        They are as in the files: a step of an event is the number of steps done before it. Only the
        times of a task whose host's clock differs are moved: see `task_events`.
        """
        supervised = supervisor_events(self.dir)
        written = {"supervisor": supervised, "archive": read_events(self.dir / COPY_EVENTS)}
        for path in self.dir.glob("*-*/events.jsonl"):
            task = path.parent.name
            written[task] = task_events(self.dir, task, supervised)
        events = [{"task": writer, **event} for writer, own in written.items() for event in own]
        return sorted(events, key=lambda event: float(event.get("time", 0.0)))

    def log(self, lines: int = 50) -> str:
        """Return the last lines of the leading task's log; empty before it has written any."""
        return log_tail(self.dir / self.plan.leader / "log.txt", lines)

    def logs(self, lines: int = 50) -> dict[str, str]:
        """Return the last lines of the log of each task, the leading one first."""
        return {task: log_tail(self.dir / task / "log.txt", lines) for task in self.tasks}

    def copies_log(self, lines: int = 50) -> str:
        """Return the last lines about the run's copies in an archive; empty if there are none."""
        return copies_log(self.dir, lines)

    def result(self) -> dict[str, Any]:
        """Return the results of the run as `workbench run --json` prints them; None means unknown.

        `examples_per_second` is the speed in the steady state, so far: without the first call of
        each attempt and without the test passes. Loss and accuracy are those of the last epoch
        that ended.
        """
        return self.summary.to_json()

    @property
    def evaluated_step(self) -> int | None:
        """The step of the checkpoint whose weights `evaluate` tests; None: the saved model.

        Raises:
            RunError: the run is alive, or it has neither a model nor a complete checkpoint.
        """
        from workbench.runs.programs.evaluation import evaluated_step

        return evaluated_step(self.dir)

    def evaluate(self) -> dict[str, Any]:
        """Test the model in a separate process; see `evaluation.evaluate`."""
        from workbench.runs.programs.evaluation import evaluate

        return evaluate(self.dir)

    def xray(self, step: int) -> StepXray | WorkersXray:
        """Return the X-ray of a step that was done, counted from 1; see `xray.xray`."""
        from workbench.runs.programs.xray import xray

        return xray(self.dir, step)

    def load_model(self) -> Any:
        """Return the saved Keras model; this imports TensorFlow in the caller's process."""
        from workbench.runs.programs.evaluation import load_model

        return load_model(self.dir)

    @property
    def _history(self) -> History:
        from workbench.runs.records.history import History

        return History(self.dir)
