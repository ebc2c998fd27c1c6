"""A run as a person holds it: what it is, how far it is, and what can be done with it."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import locks
from .directory import (
    SCRIPT,
    RunError,
    find_run,
    read_json,
    run_folders,
    runs_root,
    sha256,
    unwritable,
)
from .events import Event, note_epoch, read_events
from .failure import log_tail
from .presence import crews_of
from .state import LIVE, Status, alive_error, attempt_events, is_alive, last_state, run_lock, status
from .tasks import EVALUATOR, leader_of, tasks_of, workers_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from workbench.config import RunConfig
    from workbench.plan import Plan

    from .ledger import Ledger
    from .progress import Progress
    from .records import Shape, TaskRecords

WAIT_POLL_SECONDS = 0.1


@dataclass(frozen=True)
class Failure:
    """Why a run failed or was lost: the cause, whose it is, the log's end, what to change."""

    cause: str
    task: str
    log_tail: str
    fix: str


class Run:
    """One run, read from its folder each time it is asked: nothing here goes stale.

    Every reader raises a `RunError` where the folder is gone or a file of it is torn.
    """

    def __init__(self, run_dir: str | os.PathLike[str]) -> None:
        self.dir = Path(run_dir).absolute()
        card = read_json(self.dir / "run.json")
        self.id = str(card.get("id") or self.dir.name)
        self.name = str(card.get("name") or "")
        self.created = float(card.get("created") or 0.0)
        """Seconds since 1970."""

    def __repr__(self) -> str:
        return f"Run({str(self.dir)!r})"

    @property
    def status(self) -> Status:
        """The state: queued, starting, running, stopping, finished, stopped, failed or lost."""
        return status(self.dir)

    @property
    def alive(self) -> bool:
        """Whether its supervisor or its trainer lives."""
        return is_alive(self.dir)

    @property
    def config(self) -> RunConfig:
        """What was asked for."""
        from workbench.config import RunConfig

        return RunConfig.from_json(read_json(self.dir / "config.json"))

    @property
    def plan(self) -> Plan:
        """What it was resolved to."""
        from .stored_plan import read_plan

        return read_plan(self.dir / "plan.json")

    @property
    def tasks(self) -> tuple[str, ...]:
        """The names of its processes, such as `worker-0`; the first leads."""
        return tasks_of(read_json(self.dir / "plan.json"))

    @property
    def script(self) -> str:
        """The text of train.py as it is now."""
        try:
            return (self.dir / SCRIPT).read_text(encoding="utf-8")
        except (OSError, UnicodeError) as error:
            raise RunError(
                f"A run folder holds its {SCRIPT} in UTF-8; {self.dir / SCRIPT}: {error}. "
                "Restore it from a copy, or start a new run."
            ) from error

    @property
    def failure(self) -> Failure | None:
        """Why it failed or was lost; None in every other state."""
        state = self.status
        if state == "lost":
            return self._loss()
        event = last_state(self.dir)
        if state != "failed" or event is None:
            return None
        texts = (str(event.get(name, "")) for name in ("cause", "task", "log", "fix"))
        return Failure(*texts)

    @property
    def progress(self) -> Progress:
        """How far it is, from a few small reads."""
        from .progress import read_progress

        return read_progress(self.dir)

    @property
    def ledger(self) -> Ledger:
        """Where its time went, until now or its end."""
        from .ledger import read_ledger

        return read_ledger(self.dir)

    @property
    def missing(self) -> list[tuple[int, int]]:
        """Ranges (first, last) of steps done but not recorded, 0-based, both ends included."""
        from .progress import steps_done
        from .records import missing_ranges

        done = steps_done(self.dir, self._shape())  # told before the records are read: they grow
        return missing_ranges(self._records(), done)

    def stop(self) -> None:
        """Ask it to finish its call, save and end. Returns at once; nothing to do where it is over.

        Raises:
            RunError: the run folder cannot be written.
        """
        if self.status not in LIVE:
            return
        try:
            (self.dir / "stop").touch()
        except OSError as error:
            raise unwritable(self.dir / "stop", error) from error

    def wait(self, timeout_seconds: float | None = None) -> Status:
        """Wait until it is over and return its state; the one it has when the time is up."""
        deadline = None if timeout_seconds is None else time.monotonic() + timeout_seconds
        while (state := self.status) in LIVE:
            if deadline is not None and time.monotonic() > deadline:
                break
            time.sleep(WAIT_POLL_SECONDS)
        return state

    def resume(self, epochs: int | None = None, workers: int | None = None) -> Run:
        """Go on from the last checkpoint; a finished run for `epochs` in all, more than before.

        Where all workers step together, it can go on with another number of `workers`: the global
        batch stays the same, and so does the curve.

        Raises:
            PlanError: it cannot be planned so.
            RunError: it is alive, it is finished and `epochs` is not larger, its strategy has no
                workers to change, or a script edited by hand would be overwritten.
        """
        from .start import resume_run

        return resume_run(self.dir, epochs, workers)

    def delete(self) -> None:
        """Remove the run's folder with all that is in it.

        Raises:
            RunError: it is alive, or the folder cannot be removed.
        """
        path = run_lock(self.dir)
        lock = locks.take(path)
        if lock is None:
            raise alive_error(self.dir, "deleted")
        hidden = self.dir.with_name(f".deleted-{self.dir.name}")
        try:
            self.dir.rename(hidden)
            shutil.rmtree(hidden)
            path.unlink(missing_ok=True)
        except OSError as error:
            raise unwritable(self.dir, error) from error
        finally:
            os.close(lock)

    def replica_steps(self, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Return a row for each replica of each recorded step; see `frames.replica_frame`."""
        from .frames import replica_frame

        return replica_frame(self._records(), columns)

    def steps(self) -> pd.DataFrame:
        """Return a row for each step, over all replicas by examples; see `frames.step_frame`."""
        from .frames import step_frame

        return step_frame(self._records())

    def epochs(self) -> pd.DataFrame:
        """Return a row for each epoch that is over, train and test; see `frames.epoch_frame`."""
        from .frames import epoch_frame

        return epoch_frame(self._records(), self._epoch_events())

    def staleness(self) -> pd.DataFrame:
        """Return how stale each step of a ParameterServer run was; see `staleness`.

        Empty where all workers step together.
        """
        from .staleness import read_staleness

        return read_staleness(self.dir, workers_of(read_json(self.dir / "plan.json")))

    def figure(self) -> Any:
        """Return a plotly figure of loss, accuracy and throughput as they are now."""
        from workbench import charts

        from .live import LiveRun

        live = LiveRun(self)
        live.poll()
        return charts.run_figure(live.points(), live.epochs(), virtual=self.plan.virtual)

    def events(self) -> list[Event]:
        """Return all events in order of time; `task` names the writer, `supervisor` or a task."""
        files = [self.dir / "events.jsonl", *sorted(self.dir.glob("*-*/events.jsonl"))]
        events = []
        for path in files:
            writer = "supervisor" if path.parent == self.dir else path.parent.name
            events += [{"task": writer, **event} for event in read_events(path)]
        return sorted(events, key=lambda event: float(event.get("time", 0.0)))

    def log(self, lines: int = 50) -> str:
        """Return the last lines of the leading task's log; empty before it has written any."""
        return log_tail(self.dir / leader_of(self.dir) / "log.txt", lines)

    def logs(self, lines: int = 50) -> dict[str, str]:
        """Return the last lines of the log of each task, the leading one first."""
        return {task: log_tail(self.dir / task / "log.txt", lines) for task in self.tasks}

    def result(self) -> dict[str, Any]:
        """Return how it went as `workbench run --json` prints it; None is unknown.

        examples_per_second is the steady state: without the first call and the test passes.
        """
        from .progress import steps_done
        from .records import steady_rate

        plan = read_json(self.dir / "plan.json")
        tasks = self._records()
        return {
            "run": self.id,
            "dir": str(self.dir),
            "status": self.status,
            "num_replicas_in_sync": plan.get("num_replicas_in_sync"),
            "global_batch_size": plan.get("global_batch_size"),
            "steps": steps_done(self.dir, self._shape()),
            "examples_per_second": steady_rate(tasks),
            **self._last_measures(tasks),
            "script_sha256": sha256(self.script),
        }

    def evaluate(self) -> dict[str, Any]:
        """Test the saved model in a process of its own; see `evaluation.evaluate`."""
        from .evaluation import evaluate

        return evaluate(self.dir)

    def xray(self, step: int) -> dict[str, Any]:
        """Take a step that was done, counted from 0, apart once more; see `xray.xray`."""
        from .xray import xray

        return xray(self.dir, step)

    def load_model(self) -> Any:
        """Return the saved Keras model; imports TensorFlow here, in the caller's process."""
        from .evaluation import load_model

        return load_model(self.dir)

    def _shape(self) -> Shape:
        from .progress import shape_of

        shape = shape_of(read_json(self.dir / "plan.json"))
        events = read_events(self.dir / leader_of(self.dir) / "events.jsonl")
        return replace(shape, crews=crews_of(events))

    def _records(self) -> list[TaskRecords]:
        from .records import read_tasks

        ends: dict[str, list[int]] = {}
        for _, event in sorted(self._epoch_events().items()):
            for worker, steps in event.get("worker_steps", {}).items():
                ends.setdefault(worker, []).append(steps)
        return read_tasks(self.dir, self._shape(), ends)

    def _epoch_events(self) -> dict[int, Event]:
        """Return the newest event of each epoch, less those a resume does again."""
        epochs: dict[int, Event] = {}
        for task in (leader_of(self.dir), EVALUATOR):
            for event in read_events(self.dir / task / "events.jsonl"):
                if task != EVALUATOR or event["event"] == "evaluated":
                    note_epoch(epochs, event)
        return epochs

    def _last_measures(self, tasks: Sequence[TaskRecords]) -> dict[str, float | None]:
        from .frames import epoch_frame

        names = ["loss", "accuracy", "test_loss", "test_accuracy"]
        last = epoch_frame(tasks, self._epoch_events())[names].tail(1)
        measures: dict[str, float | None] = dict.fromkeys(names)
        for name in names:
            with contextlib.suppress(IndexError):
                value = float(last[name].iloc[0])
                measures[name] = value if abs(value) < float("inf") else None
        return measures

    def _loss(self) -> Failure:
        names = [event["event"] for event in attempt_events(self.dir)]
        saved = "The trainer saved a checkpoint and ended. " if "stopped" in names else ""
        return Failure(
            cause="The supervisor ended without writing how: it was killed, or the machine went "
            f"down. {saved}".strip(),
            task="supervisor",
            log_tail=self.log(30),
            fix="Resume the run: it goes on from its last checkpoint.",
        )


def open_run(run: str | os.PathLike[str], runs_dir: str | os.PathLike[str] | None = None) -> Run:
    """Open a run by its id in `runs_dir` (None: `$WORKBENCH_RUNS`, else `runs`), or its folder.

    Raises:
        RunError: there is none.
    """
    return Run(find_run(run, runs_dir))


def list_runs(runs_dir: str | os.PathLike[str] | None = None) -> list[Run]:
    """Return all runs of a folder, newest first. Folders without a whole run.json are left out."""
    runs = []
    for folder in run_folders(runs_root(runs_dir)):
        with contextlib.suppress(RunError):
            runs.append(Run(folder))
    return sorted(runs, key=lambda run: (run.created, run.id), reverse=True)
