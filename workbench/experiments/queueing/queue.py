"""The process that trains a comparison's candidates, one run at a time.

`python -m workbench.experiments.queueing.queue FOLDER WORKING_DIR` detaches from its parent
process and keeps the folder's lock, which it inherits. If it starts again, it continues with the
run that it finds.
"""

from __future__ import annotations

import dataclasses
import os
import sys
import time
from contextlib import AbstractContextManager
from pathlib import Path

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

POLL_SECONDS = 0.2


class Queue:
    """One attempt at a comparison."""

    def __init__(self, folder: Path) -> None:
        self.comparison = Comparison(folder)
        self.request = self.comparison.request
        self.devices = Devices.from_json(read_json(folder / DEVICES))
        self.log = EventLog(folder / EVENTS)
        self.stop_file = folder / STOP
        events = self.comparison.events
        self.took = {each["run"]: float(each["seconds"]) for each in events
                     if each["event"] == "ended"}  # fmt: skip
        """Seconds that each run took, by its id."""
        self.trials = {(each.round, each.candidate): each for each in self.comparison.trials}
        self.out = set(self.comparison.left_out)

    def run(self) -> str:
        """Train round by round; return the state in which the queue ends."""
        for at in range(self.request.repeats):
            for number in self._order(at):
                if self.stop_file.exists():
                    return "stopped"
                if number not in self.out and not self._is_over(at, number):
                    with self._loaded(number):
                        self._train(at, number)
            if at + 1 < self.request.repeats:
                self._drop_slow()
        return "stopped" if self.stop_file.exists() else "finished"

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
                self._end(earlier, before)
            self._leave_out(number, f"the budget of {self.request.budget_seconds:g} s is spent")
            return
        began = time.monotonic() - before
        try:
            run = self._begin(at, number)
        except (PlanError, RunError) as error:
            self._leave_out(number, str(error))
            return
        over_budget = self._follow(run, began)
        if run.status == "stopped" and not over_budget and self.stop_file.exists():
            return  # it goes on when the comparison goes on
        self._end(run, time.monotonic() - began)
        measure_whole(run)  # kept in files, so that tables and curves are quick
        if over_budget:
            self._leave_out(number, "its run was stopped when the budget was spent")
        elif run.status != "finished":
            failure = run.failure
            self._leave_out(number, failure.cause if failure else f"its run is {run.status}")

    def _end(self, run: Run, seconds: float) -> None:
        """Record that a run is over after so many seconds, with those before it was stopped."""
        self.took[run.dir.name] = seconds
        self.log.write("ended", run=run.dir.name, seconds=round(seconds, 3), status=run.status)

    def _begin(self, at: int, number: int) -> Run:
        if found := self.trials.get((at, number)):
            run = self.comparison.run(found)
            return run if run.status in (*LIVE, "finished") else run.resume()
        candidate, repeats = self.request.candidates[number], self.request.repeats
        name = candidate.label + (f", {at + 1} of {repeats}" if repeats > 1 else "")
        config = dataclasses.replace(candidate.config, name=name)
        run = start_run(config, self.comparison.folder, self.devices)
        self.trials[at, number] = Trial(number, at, run.dir.name)
        self.log.write("begun", candidate=number, round=at, run=run.dir.name)
        return run

    def _follow(self, run: Run, began: float) -> bool:
        """Wait until a run is over; return whether the budget stopped it."""
        over_budget = False
        while run.wait(POLL_SECONDS) in LIVE:
            left = self._left_seconds()
            over_budget = left is not None and time.monotonic() - began > left
            if over_budget or self.stop_file.exists():
                run.stop()
        return over_budget and run.status == "stopped"

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


def seconds_of(run: Run) -> float:
    """Return the seconds that all attempts at a run have taken."""
    return run.ledger.seconds or 0.0


def main() -> int:
    """Detach, train the candidates, and record how the comparison ended."""
    folder, working_dir = map(Path, sys.argv[1:3])
    queue = Queue(folder)
    if os.fork():
        os._exit(0)
    os.chdir(working_dir)
    queue.log.write("state", state="running", pid=os.getpid())
    queue.log.write("state", state=queue.run())
    return 0


if __name__ == "__main__":
    sys.exit(main())
