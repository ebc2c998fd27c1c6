"""A comparison: candidates that are trained in turn, several times each, by the comparison's queue.

Its folder holds the request, the queue's events, and the runs. The queue is a process that outlives
the process that started it. It is alive while it holds the folder's lock.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from workbench import flock
from workbench.config import ConfigError
from workbench.runs import Run, RunError
from workbench.runs.folder import locks
from workbench.runs.folder.events import Event, read_events
from workbench.runs.folder.files import (
    json_text,
    runs_root,
    sha256,
    unwritable,
    write_text,
)
from workbench.runs.folder.logs import log_tail
from workbench.runs.folder.trust import note
from workbench.runs.processes.environment import PACKAGE_ROOT

from .grid import Candidate

if TYPE_CHECKING:
    from workbench.devices import Devices

VERSION = 1
ASKED, DEVICES = "compare.json", "devices.json"
EVENTS, LOG, STOP = "queue.jsonl", "queue.log", "stop"
State = Literal["running", "stopping", "finished", "stopped", "lost"]


@dataclass(frozen=True)
class Trial:
    """One run of a candidate, in one of the rounds."""

    candidate: int
    round: int
    run: str
    """The run's id."""


@dataclass(frozen=True)
class Request:
    """What a comparison was asked to do."""

    created: float
    """The time of the request, in seconds since 1970."""
    repeats: int
    """Runs of each candidate."""
    budget_seconds: float | None
    """The most seconds that all runs together may take; None: no limit."""
    target_accuracy: float | None
    """The accuracy for which the time to reach it is given; None: there is none."""
    drop_below: float
    """A candidate with less than this share of the best's speed is not repeated."""
    candidates: tuple[Candidate, ...]
    """The compared candidates; a candidate with a reason cannot be run here."""

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        candidates = [each.to_json() for each in self.candidates]
        return {"version": VERSION, **vars(self), "candidates": candidates}

    @classmethod
    def read(cls, folder: Path) -> Request:
        """Read the request of the comparison in a folder.

        Raises:
            RunError: the folder holds no comparison, or its request is damaged.
        """
        path = folder / ASKED
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            return cls(
                created=float(values["created"]),
                repeats=int(values["repeats"]),
                budget_seconds=_limit(values["budget_seconds"]),
                target_accuracy=_limit(values["target_accuracy"]),
                drop_below=float(values["drop_below"]),
                candidates=tuple(map(Candidate.from_json, values["candidates"])),
            )
        except (OSError, ValueError, LookupError, TypeError, AttributeError, ConfigError) as error:
            raise RunError(
                f"A comparison's folder holds a complete {ASKED}; {path}: "
                f"{type(error).__name__}: {error}. Restore it from a copy, or delete the folder "
                "with its runs."
            ) from error


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
        return flock.held(lock_of(self.folder))

    @property
    def events(self) -> list[Event]:
        """The events of the queue: state, begun, ended, left_out."""
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
        trials = self.trials
        return sum(
            sum(trial.candidate == number for trial in trials) if number in out else self.request.repeats
            for number, candidate in enumerate(self.request.candidates)
            if not candidate.reason
        )

    @property
    def ended(self) -> int:
        """The number of runs that are over."""
        return sum(event["event"] == "ended" for event in self.events)

    @property
    def eta_seconds(self) -> float | None:
        """Seconds left, estimated from the runs so far; None before the first is over."""
        took = [event["seconds"] for event in self.events if event["event"] == "ended"]
        return sum(took) / len(took) * (self.planned - len(took)) if took else None

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
                f"Only a stopped or lost comparison can be resumed; {self.folder.name} is "
                "finished. Start a new one."
            )
        _spawn(self.folder)

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


def start_comparison(
    candidates: Sequence[Candidate],
    devices: Devices,
    runs_dir: str | os.PathLike[str] | None = None,
    *,
    repeats: int = 3,
    budget_seconds: float | None = None,
    target_accuracy: float | None = None,
    drop_below: float = 0.0,
) -> Comparison:
    """Start to train candidates one after another, and return while that goes on by itself.

    In each round every candidate has one run. So changes on the machine affect all candidates
    alike.

    Args:
        candidates: see `grid.candidates`.
        devices: the devices that they were planned for.
        runs_dir: the folder of runs; None: `$WORKBENCH_RUNS`, else `runs`.
        repeats: runs of each; fewer than three give no interval.
        budget_seconds: the most seconds that all runs together may take. A run that would probably
            exceed the budget is not started. A run that exceeds it is stopped.
        target_accuracy: an accuracy for which the time to reach it is given.
        drop_below: a candidate whose runs had less than this share of the best's speed gets no
            more runs.

    Raises:
        RunError: no candidate can be run, a number is out of its range, or the folder cannot be
            written.
    """
    _check(candidates, repeats, budget_seconds, target_accuracy, drop_below)
    name = time.strftime(f"compare-%Y%m%d-%H%M%S-{secrets.token_hex(2)}")
    folder = runs_root(runs_dir) / name
    request = Request(
        created=time.time(),
        repeats=repeats,
        budget_seconds=budget_seconds,
        target_accuracy=target_accuracy,
        drop_below=drop_below,
        candidates=tuple(candidates),
    )
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise unwritable(folder, error) from error
    write_text(folder / DEVICES, json_text(devices.to_json()))
    text = json_text(request.to_json())
    write_text(folder / ASKED, text)
    note(folder, sha256(text))
    _spawn(folder)
    return Comparison(folder)


def lock_of(folder: Path) -> Path:
    """Return the lock that a comparison's queue holds while it lives."""
    return locks.lock_path(locks.state_dir(), folder)


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


def _limit(value: Any) -> float | None:
    return None if value is None else float(value)


def _check(
    candidates: Sequence[Candidate],
    repeats: int,
    budget_seconds: float | None,
    target_accuracy: float | None,
    drop_below: float,
) -> None:
    if not any(not each.reason for each in candidates):
        reasons = "".join(f"\n  {each.label}: {each.reason}" for each in candidates)
        raise RunError(
            "A comparison needs a candidate that can run here; received "
            f"{len(candidates)}, and none can:{reasons or ' none.'}\nFix the named problems, or "
            "choose other candidates."
        )
    rules: Mapping[str, tuple[bool, object, str, str]] = {
        "repeats": (repeats >= 1, repeats, "1 or more", "3 or more give intervals"),
        "budget_seconds": (
            *(budget_seconds is None or budget_seconds > 0, budget_seconds),
            *("above 0", "Leave it out for no limit"),
        ),
        "target_accuracy": (
            *(target_accuracy is None or 0 < target_accuracy <= 1, target_accuracy),
            *("above 0 and at most 1", "For 90 %, give 0.9"),
        ),
        "drop_below": (0 <= drop_below < 1, drop_below, "at least 0 and below 1", "0 drops none"),
    }
    for name, (holds, got, rule, fix) in rules.items():
        if not holds:
            raise RunError(f"{name} must be {rule}; received {got}. {fix}.")


def _spawn(folder: Path) -> None:
    """Start the queue, which inherits the lock.

    Raises:
        RunError: it is alive, or cannot be started.
    """
    lock = locks.take(lock_of(folder))
    if lock is None:
        raise RunError(
            f"A comparison has one queue; the queue of {folder.name} is alive. Stop it first, or "
            "let it finish."
        )
    command = [
        sys.executable,
        "-m",
        "workbench.experiments.comparing.queue",
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
            f"A comparison needs its queue process; {sys.executable} ended with exit status "
            f"{launcher.returncode}. Its log ends with: {log_tail(folder / LOG, 5)}. Check that it "
            "can import workbench, then resume the comparison."
        )
