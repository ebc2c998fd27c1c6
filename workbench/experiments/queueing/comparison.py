"""A comparison: candidates that a queue trains in turn, several times each.

Its folder holds the request, the queue's events, and the runs. The queue is a process that outlives
the process that started it. It is alive while it holds the folder's lock.
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from workbench import flock, units
from workbench.experiments.comparing.rows import Group
from workbench.experiments.queueing.request import ASKED, Request
from workbench.runs import Run, RunError
from workbench.runs.folder import locks
from workbench.runs.folder.events import Event, read_events
from workbench.runs.folder.files import runs_root, unwritable
from workbench.runs.folder.logs import log_tail
from workbench.runs.processes.environment import PACKAGE_ROOT

DEVICES, EVENTS, LOG, STOP = "devices.json", "queue.jsonl", "queue.log", "stop"
State = Literal["running", "stopping", "finished", "stopped", "lost"]


def _lock_of(folder: Path) -> Path:
    """Return the lock that a comparison's queue holds while it lives."""
    return locks.lock_path(locks.state_dir(), folder)


def spawn(folder: Path) -> None:
    """Start the queue, which inherits the lock.

    Raises:
        RunError: it is alive, or cannot be started.
    """
    lock = locks.take(_lock_of(folder))
    if lock is None:
        raise RunError(
            f"The comparison {folder.name} is still running. Stop it first, or let it finish."
        )
    command = [
        sys.executable,
        "-m",
        "workbench.experiments.queueing.queue",
        str(folder),
        str(Path.cwd()),
    ]
    try:
        (folder / STOP).unlink(missing_ok=True)
        with (folder / LOG).open("ab") as log:
            launcher = subprocess.Popen(
                command,
                cwd=PACKAGE_ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(lock,),
                start_new_session=True,
            )
    except OSError as error:
        raise unwritable(folder, error) from error
    finally:
        os.close(lock)
    if launcher.wait():
        raise RunError(
            f"The queue of the comparison did not start: {sys.executable} ended with exit status "
            f"{launcher.returncode}. Its log ends with: {log_tail(folder / LOG, 5)}. Check that it "
            "can import workbench, then resume the comparison."
        )


@dataclass(frozen=True)
class Trial:
    """One run of a candidate, in one of the rounds."""

    candidate: int
    round: int
    run: str
    """The run's id."""


class Comparison:
    """The current state of a comparison, read from its folder each time."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Open a comparison.

        Raises:
            RunError: this folder holds no comparison, or its request is damaged.
        """
        self.folder = Path(folder).absolute()
        self._request = Request.read(self.folder)

    @property
    def request(self) -> Request:
        """What it was asked to do."""
        return self._request

    @property
    def state(self) -> State:
        """Whether the queue goes on; if not, how it ended."""
        if self.alive:
            return "stopping" if (self.folder / STOP).exists() else "running"
        states = [event["state"] for event in self.events if event["event"] == "state"]
        if states and states[-1] in ("finished", "stopped"):
            last: State = states[-1]
            return last
        return "lost"

    @property
    def alive(self) -> bool:
        """Whether its queue is alive."""
        return flock.held(_lock_of(self.folder))

    @property
    def events(self) -> list[Event]:
        """The events of the queue: state, begun, ended, left_out; of a matrix judged, certified."""
        return read_events(self.folder / EVENTS)

    @property
    def trials(self) -> list[Trial]:
        """The started runs, in order."""
        begun = [event for event in self.events if event["event"] == "begun"]
        return [Trial(event["candidate"], event["round"], event["run"]) for event in begun]

    @property
    def left_out(self) -> dict[int, str]:
        """The reason why a candidate was not run as often as requested, by its number."""
        events = self.events
        return {each["candidate"]: each["reason"] for each in events if each["event"] == "left_out"}

    @property
    def planned(self) -> int:
        """The number of runs that there will be, as far as it is known now."""
        out = self.left_out
        trials, request = self.trials, self.request
        return sum(
            sum(trial.candidate == number for trial in trials) if number in out else request.repeats
            for number, candidate in enumerate(request.candidates)
            if not candidate.reason
        )

    @property
    def over(self) -> frozenset[str]:
        """The ids of the runs that are over."""
        return frozenset(event["run"] for event in self.events if event["event"] == "ended")

    @property
    def ended(self) -> int:
        """The number of runs that are over."""
        return len(self.over)

    @property
    def eta_seconds(self) -> float | None:
        """Seconds left, estimated from the runs so far; None before the first is over."""
        took = [event["seconds"] for event in self.events if event["event"] == "ended"]
        return sum(took) / len(took) * (self.planned - len(took)) if took else None

    @property
    def doing(self) -> str:
        """What it does now, in words; empty if it has begun nothing yet."""
        if (state := self.state) == "lost":
            return "its queue process ended without a message; resume it"
        if state != "running":
            return state
        if self.ended == self.planned:
            return "comparing the weights" if self.request.agreement else ""
        over = self.over
        begun = [trial.candidate for trial in self.trials if trial.run not in over]
        return f"now {self.request.candidates[begun[-1]].label}" if begun else ""

    @property
    def progress(self) -> str:
        """How far it is, in words."""
        left = self.eta_seconds if self.state == "running" else None
        time_left = f"about {units.duration(left)} left" if left else ""
        done = f"{self.ended} of {self.planned} runs done"
        return ", ".join(filter(None, [done, self.doing, time_left]))

    def run(self, trial: Trial) -> Run:
        """Return a trial's run.

        Raises:
            RunError: it was deleted.
        """
        return Run(self.run_folder(trial))

    def run_folder(self, trial: Trial) -> Path:
        """Return the folder of a trial's run, which may have been deleted."""
        return self.folder / trial.run

    def log(self, lines: int = 50) -> str:
        """Return the last lines of the queue's log, which show its errors."""
        return log_tail(self.folder / LOG, lines)

    def stop(self) -> None:
        """Ask the queue to stop its run, with a checkpoint, and to end. Return immediately."""
        if self.alive:
            (self.folder / STOP).touch()

    def resume(self) -> None:
        """Let the queue go on where it was: first with the stopped run, then with the others.

        Raises:
            RunError: it is alive or finished, or cannot be started.
        """
        if self.state == "finished":
            raise RunError(
                f"{self.folder.name} is finished, so there is nothing to resume. Start a new "
                "comparison."
            )
        spawn(self.folder)

    @property
    def repeatable(self) -> bool:
        """Whether more runs of its candidates can be asked for; see `repeat`."""
        out, request = self.left_out, self.request
        able = sum(
            not each.reason and number not in out for number, each in enumerate(request.candidates)
        )
        limited = request.agreement or request.budget_seconds is not None
        return not self.alive and not limited and able > 1

    def repeat(self, repeats: int) -> None:
        """Train the candidates that were not left out until each has so many runs.

        Raises:
            RunError: the comparison cannot be repeated, has so many runs already, or its queue
                cannot be started.
        """
        request = self.request
        if not self.repeatable:
            raise RunError(
                f"{self.folder.name} cannot train more runs: it is {self.state}. It must be over, "
                "have no budget, and have at least two candidates that were not left out. Start a "
                "new comparison."
            )
        if repeats <= request.repeats:
            raise RunError(
                f"{self.folder.name} already has {request.repeats} runs of each candidate, so "
                f"{repeats} adds none. Ask for {request.repeats + 1} or more."
            )
        self._request = dataclasses.replace(request, repeats=repeats)
        self._request.write(self.folder)
        spawn(self.folder)

    def wait(self, timeout_seconds: float | None = None) -> State:
        """Wait until the queue has ended or time is up, and return its state."""
        deadline = None if timeout_seconds is None else time.monotonic() + timeout_seconds
        while (state := self.state) in ("running", "stopping"):
            if deadline is not None and time.monotonic() > deadline:
                break
            time.sleep(0.1)
        return state


class UnreadableComparison(Comparison):
    """A comparison whose request is damaged; access to the request raises the reason."""

    def __init__(self, folder: Path, why: RunError) -> None:
        self.folder, self.why = folder, str(why)

    @property
    def request(self) -> Request:
        raise RunError(self.why)


def groups_of(comparison: Comparison) -> list[Group]:
    """Return a comparison's candidates with their runs; deleted runs are left out."""
    left_out, over = comparison.left_out, comparison.over
    groups = []
    for number, candidate in enumerate(comparison.request.candidates):
        trials = [trial for trial in comparison.trials if trial.candidate == number]
        there = [trial for trial in trials if (comparison.folder / trial.run).is_dir()]
        reason = candidate.reason or left_out.get(number, "")
        left = comparison.request.repeats - sum(trial.run in over for trial in trials)
        groups.append(
            Group(
                candidate.label,
                tuple(comparison.run(trial) for trial in there),
                reason,
                tuple(trial.round for trial in there),
                runs_left=0 if reason else left,
            )
        )
    return groups


def list_comparisons(runs_dir: str | os.PathLike[str] | None = None) -> list[Comparison]:
    """Return all comparisons of a folder of runs, newest first.

    One whose request is damaged is an `UnreadableComparison`.
    """
    found = sorted(runs_root(runs_dir).glob(f"compare-*/{ASKED}"), reverse=True)
    return [_listed(path.parent) for path in found]


def _listed(folder: Path) -> Comparison:
    try:
        return Comparison(folder)
    except RunError as error:
        return UnreadableComparison(folder, error)


def find_comparison(name: str, runs_dir: str | os.PathLike[str] | None = None) -> Comparison | None:
    """Return the comparison of a name in a folder of runs, or of a path; None if there is none.

    Raises:
        RunError: its request is damaged.
    """
    for folder in (runs_root(runs_dir) / name, Path(name)):
        if (folder / ASKED).is_file():
            return Comparison(folder)
    return None
