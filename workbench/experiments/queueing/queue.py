"""The process that trains a comparison's candidates, one run at a time.

`python -m workbench.experiments.queueing.queue FOLDER WORKING_DIR` detaches from its parent
process and keeps the folder's lock, which it inherits. If it starts again, it continues with the
run that it finds.

Each run has the machine to itself, except in a matrix; see `MatrixQueue`.
"""

from __future__ import annotations

import dataclasses
import os
import sys
import time
from collections.abc import Iterable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.devices import Devices
from workbench.experiments.comparing.measures import measure, measure_whole
from workbench.plan import PlanError
from workbench.plan.keras import needs_legacy_keras
from workbench.runs import Run, RunError, start_run
from workbench.runs.folder.events import EventLog
from workbench.runs.folder.files import read_json
from workbench.runs.folder.state import LIVE
from workbench.runs.processes.forks import loaded_ahead

from .comparison import DEVICES, EVENTS, STOP, Comparison, Trial
from .judge import certificates, judge

POLL_SECONDS = 0.2


@dataclass
class Started:
    """A candidate's run whose end is not recorded yet."""

    number: int
    run: Run
    began: float
    """On the monotonic clock, earlier by the seconds that the run took before it was stopped."""
    over_budget: bool = False


class Queue:
    """One attempt at a comparison of speeds."""

    overlaps = False
    """Whether a run starts while the one before does its last test and ends."""
    rehearses = True
    resumes_stopped = False
    """Whether a run that somebody stopped goes on when the comparison does; else it is left out."""

    def __init__(self, comparison: Comparison) -> None:
        folder = comparison.folder
        self.comparison = comparison
        self.request = comparison.request
        self.devices = Devices.from_json(read_json(folder / DEVICES))
        self.log = EventLog(folder / EVENTS)
        self.stop_file = folder / STOP
        self.took = {each["run"]: float(each["seconds"]) for each in comparison.events
                     if each["event"] == "ended"}  # fmt: skip
        """Seconds that each run took, by its id."""
        self.trials = {(each.round, each.candidate): each for each in comparison.trials}
        self.out = set(comparison.left_out)
        self.last: Started | None = None

    def run(self) -> str:
        """Train round by round; return the state in which the queue ends."""
        self._train_all()
        self._end_last()
        self._conclude()
        return "stopped" if any(self._due(at) for at in range(self.request.repeats)) else "finished"

    def _train_all(self) -> None:
        for at in range(self.request.repeats):
            for number in self._due(at):
                if self.stop_file.exists():
                    return
                with self._loaded(number):
                    self._train(at, number)
            if at + 1 < self.request.repeats:
                self._drop_slow()

    def load(self) -> None:
        """Prepare before `run`, while whoever started the queue still waits for it."""

    def _due(self, at: int) -> list[int]:
        """Return the candidates whose run of a round is not over."""
        order = self._order(at)
        return [each for each in order if each not in self.out and not self._is_over(at, each)]

    def _order(self, at: int) -> list[int]:
        """Return the candidates of a round; each round begins with another candidate."""
        able = [at for at, each in enumerate(self.request.candidates) if not each.reason]
        turn = at % len(able)
        return able[turn:] + able[:turn]

    def _loaded(self, number: int) -> AbstractContextManager[None]:
        """Load TensorFlow for a candidate; it stays loaded for a similar next candidate."""
        config = self.request.candidates[number].config
        legacy = needs_legacy_keras(config)
        return loaded_ahead(config.interpreter, legacy=legacy, start=config.start)

    def _is_over(self, at: int, number: int) -> bool:
        trial = self.trials.get((at, number))
        return trial is not None and trial.run in self.took

    def _train(self, at: int, number: int) -> None:
        """Train a candidate's run of a round, or the rest of it."""
        found = self.trials.get((at, number))
        earlier = self.comparison.run(found) if found else None
        before = seconds_of(earlier) if earlier else 0.0
        goes_on = earlier is not None and earlier.status in LIVE
        if not goes_on and not self._affordable(number, before):
            if earlier:
                self._end(earlier, before, earlier.status)
            self._leave_out(number, f"the budget of {self.request.budget_seconds:g} s is spent")
            return
        began = time.monotonic() - before
        try:
            run = self._begin(at, number)
            if self.last is not None:
                self._end_last()
                began = time.monotonic() - before  # where the seconds of the last run end
            self.last = Started(number, run, began)
            self._follow(self.last, leaves=self.overlaps)
        except (PlanError, RunError) as error:
            self._leave_out(number, str(error))
        if not self.overlaps:
            self._end_last()

    def _end_last(self) -> None:
        """Wait until the last run is over, and record how it ended."""
        started, self.last = self.last, None
        if started is None:
            return
        run, number = started.run, started.number
        status, reason, seconds = "lost", "", 0.0
        try:
            self._follow(started)
            seconds = time.monotonic() - started.began
            status = run.status
            if started.over_budget and status == "stopped":
                reason = "its run was stopped when the budget was spent"
            elif status == "stopped" and (self.resumes_stopped or self.stop_file.exists()):
                return  # it goes on when the comparison goes on
            elif status != "finished":
                reason = self._why(run, status)
            self._measure(run, number)
        except RunError as error:
            reason = reason or str(error)
        if reason:
            self._leave_out(number, reason)
        self._end(run, seconds, status)

    def _why(self, run: Run, status: str) -> str:
        """Return why a run is over that did not finish; of several tasks, which one failed."""
        failure = run.failure
        if failure is None:
            return f"its run is {status}"
        return f"{failure.task}: {failure.cause}" if len(run.plan.tasks) > 1 else failure.cause

    def _measure(self, run: Run, number: int) -> None:
        """Keep in files what tables and curves need of a run, so that they are quick."""
        measure_whole(run)

    def _conclude(self) -> None:
        """Do what is left when all runs are over, or the queue is stopped."""

    def _end(self, run: Run, seconds: float, status: str) -> None:
        """Record that a run is over after so many seconds, with those before it was stopped."""
        self.took[run.dir.name] = seconds
        self.log.write("ended", run=run.dir.name, seconds=round(seconds, 3), status=status)

    def _begin(self, at: int, number: int) -> Run:
        if found := self.trials.get((at, number)):
            run = self.comparison.run(found)
            return run if run.status in (*LIVE, "finished") else run.resume()
        candidate, repeats = self.request.candidates[number], self.request.repeats
        name = candidate.label + (f", {at + 1} of {repeats}" if repeats > 1 else "")
        config = dataclasses.replace(candidate.config, name=name)
        run = start_run(config, self.comparison.folder, self.devices, rehearse=self.rehearses)
        self.trials[at, number] = Trial(number, at, run.dir.name)
        self.log.write("begun", candidate=number, round=at, run=run.dir.name)
        return run

    def _follow(self, started: Started, *, leaves: bool = False) -> None:
        """Wait until a run is over; with `leaves`, at most until it has done its steps."""
        run = started.run
        while run.wait(POLL_SECONDS) in LIVE:
            if leaves and run.progress.step >= run.progress.total_steps:
                return
            left = self._left_seconds()
            started.over_budget = left is not None and time.monotonic() - started.began > left
            if started.over_budget or self.stop_file.exists():
                run.stop()

    def _left_seconds(self) -> float | None:
        budget = self.request.budget_seconds
        return None if budget is None else budget - sum(self.took.values())

    def _affordable(self, number: int, before: float) -> bool:
        """Return whether a candidate's run will probably end within the rest of the budget.

        The run has already taken the seconds `before`.
        """
        left = self._left_seconds()
        if left is None:
            return True
        own = [self.took[trial.run] for (_, candidate), trial in self.trials.items()
               if candidate == number and trial.run in self.took]  # fmt: skip
        return max(own, default=0.0) <= left and left > before

    def _leave_out(self, number: int, reason: str) -> None:
        self.out.add(number)
        self.log.write("left_out", candidate=number, reason=reason)

    def _drop_slow(self) -> None:
        """Leave out candidates far behind the best; see `start_comparison`."""
        share = self.request.drop_below
        rates: dict[int, float] = {}
        for (_, number), trial in self.trials.items() if share else ():
            rate = None if number in self.out else self._rate(trial)
            if rate is not None:
                rates[number] = max(rate, rates.get(number, 0.0))
        best = max(rates.values(), default=0.0)
        for number, rate in rates.items():
            if rate < share * best:
                self._leave_out(number, f"it has {rate / best:.0%} of the speed of the fastest")

    def _rate(self, trial: Trial) -> float | None:
        """Return the speed of a run that is over; None if it is unknown or the run was deleted."""
        if trial.run not in self.took or not (self.comparison.folder / trial.run).is_dir():
            return None
        return measure(self.comparison.run(trial)).examples_per_second


class MatrixQueue(Queue):
    """One attempt at a matrix, which compares losses and weights instead of speeds.

    So its runs may overlap. On GPUs and TPUs they do not, because two processes cannot hold one of
    them.
    """

    rehearses = False  # its runs have few steps
    resumes_stopped = True

    def __init__(self, comparison: Comparison) -> None:
        super().__init__(comparison)
        self.overlaps = not (self.devices.gpus or self.devices.tpu_chips)
        self.loaded = ExitStack()

    def load(self) -> None:
        """Load TensorFlow for all runs at once: each import uses one core."""
        for number in self._due(0):
            self.loaded.enter_context(self._loaded(number))

    def _measure(self, run: Run, number: int) -> None:
        """Judge a candidate's cell, once its runs are over."""
        if run.status == "finished" and number not in self.out:
            self._record(judge(self.comparison, number))

    def _conclude(self) -> None:
        """Compare the weights of the runs that agree."""
        self._record(certificates(self.comparison))

    def _record(self, found: Iterable[tuple[str, dict[str, Any]]]) -> None:
        for kind, values in found:
            self.log.write(kind, **values)


def queue_of(folder: Path) -> Queue:
    """Return the queue for the comparison or the matrix in a folder."""
    comparison = Comparison(folder)
    return (MatrixQueue if comparison.request.agreement else Queue)(comparison)


def seconds_of(run: Run) -> float:
    """Return the seconds that all attempts at a run have taken."""
    return run.ledger.seconds or 0.0


def main() -> int:
    """Detach, train the candidates, and record how the comparison ended."""
    folder, working_dir = map(Path, sys.argv[1:3])
    queue = queue_of(folder)
    os.chdir(working_dir)
    queue.load()
    if os.fork():
        os._exit(0)
    queue.log.write("state", state="running", pid=os.getpid())
    queue.log.write("state", state=queue.run())
    return 0


if __name__ == "__main__":
    sys.exit(main())
