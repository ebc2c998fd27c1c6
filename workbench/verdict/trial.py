"""The trial of a suggestion: a short run with it, and alternate timing of both runs' steps."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.interval import Interval
from workbench.plan.checks import LONGEST_NAME
from workbench.runs import Run, RunError, start_run
from workbench.runs.folder.files import StoppedError, json_text, write_text
from workbench.runs.folder.state import LIVE, Status
from workbench.runs.processes.forks import loaded_ahead
from workbench.runs.programs.detection import devices_of
from workbench.runs.programs.serving import Served, serving

from .causes import Suggestion
from .estimates import median_of
from .recorded import read_recorded
from .verdict import START_SECONDS, OnProgress, Verdict

SHORT_STEPS = 200
SHORT_SECONDS = 10.0
FEWEST_STEPS = 20
FEWEST_ROUNDS = 8
SECONDS = 20.0
POLL_SECONDS = 0.2
FILE = "trial.json"


@dataclass(frozen=True)
class Trial:
    """The examples per second before and after a change, timed in turns on the same machine."""

    before: str
    after: str
    """The ids of both runs."""
    suggestion: Suggestion
    before_step: Interval
    after_step: Interval
    """Seconds of a step in each run."""
    speedup: Interval
    """The examples per second after the change, divided by the examples per second before it."""
    rounds: int

    @property
    def differs(self) -> bool:
        """Whether the two runs differ significantly, at 95 %."""
        return not self.speedup.low <= 1 <= self.speedup.high

    @property
    def sentence(self) -> str:
        """The result in words."""
        found = self.speedup
        interval = f"95 % [{found.low:.2f}, {found.high:.2f}]"
        if not self.differs:
            return (
                f"No significant difference: {found.value:.2f} times the examples per second, "
                f"{interval}."
            )
        if found.value > 1:
            return f"It helps: {found.value:.2f} times the examples per second, {interval}."
        return f"It does not help: {found.value:.2f} times the examples per second, {interval}."

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values, including the sentence."""
        values: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(self)))
        return {**values, "differs": self.differs, "sentence": self.sentence}


def try_out(
    run: Run,
    verdict: Verdict,
    seconds: float = SECONDS,
    on_progress: OnProgress = lambda action, left_seconds: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Trial:
    """Start a short run with a verdict's suggestion, and time the steps of both runs in turns.

    The new run is in the same folder of runs. It has one epoch of 20 to 200 steps, which takes some
    seconds. When it has ended, the tasks of both runs are started again, and they time their steps
    alternately. The result is kept in the new run's trial.json.

    Raises:
        PlanError: the config cannot be planned.
        RunError: the verdict has no suggestion, the new run does not finish, or a process fails.
        StoppedError: `stopped`, which is called repeatedly, returned true. The new run is then
            stopped too.
    """
    suggestion = verdict.suggestion
    if suggestion is None:
        raise RunError(
            f"There is nothing to try: the verdict on {run.id} suggests no change. "
            f"{verdict.sentence} {verdict.advice}"
        )
    config, legacy = run.config, run.plan.legacy_keras
    with loaded_ahead(config.interpreter, legacy=legacy, start=config.start):
        on_progress("Training a short run with the suggestion", 4 * START_SECONDS + seconds)
        after = _short_run(run, suggestion, verdict.breakdown.step.value)
        if _end_of(after, stopped) != "finished":
            why = after.failure
            raise RunError(
                f"The suggestion was not timed: its short run {after.id} is {after.status}. "
                f"{f'{why.cause} {why.fix}' if why else 'Let it finish.'}"
            )
        on_progress("Timing both runs alternately", 2 * START_SECONDS + seconds)
        trial = _compare(run, after, suggestion, seconds, stopped)
    write_text(after.dir / FILE, json_text(trial.to_json()))
    return trial


def _short_run(run: Run, suggestion: Suggestion, step_seconds: float) -> Run:
    config = dataclasses.replace(run.config, **suggestion.changes)
    steps = max(FEWEST_STEPS, min(SHORT_STEPS, round(SHORT_SECONDS / step_seconds)))
    config = dataclasses.replace(config, epochs=1, steps_per_epoch=steps, archive=None)
    devices = devices_of(run.dir)
    name = f"{run.id} with {suggestion.in_words}"[:LONGEST_NAME]
    return start_run(config, run.dir.parent, devices, name)


def _end_of(run: Run, stopped: Callable[[], bool]) -> Status:
    """Wait until a run has ended, and return its status.

    Raises:
        StoppedError: the run was stopped, and has ended.
    """
    while (state := run.wait(POLL_SECONDS)) in LIVE:
        if stopped():
            run.stop()
            run.wait()
            raise StoppedError(
                f"The suggestion was not timed: its short run {run.id} was stopped. Try it again."
            )
    return state


def _compare(
    run: Run,
    after: Run,
    suggestion: Suggestion,
    seconds: float,
    stopped: Callable[[], bool],
) -> Trial:
    with _served(run, stopped) as first, _served(after, stopped) as second:
        sides = {"before": first, "after": second}
        for side in sides.values():
            side.first()
        times = _by_turns(sides, seconds)
    before, now = times["before"], times["after"]
    larger = after.plan.examples_per_step / run.plan.examples_per_step
    return Trial(
        before=run.id,
        after=after.id,
        suggestion=suggestion,
        before_step=median_of(before),
        after_step=median_of(now),
        speedup=median_of(larger * before / now),
        rounds=len(now),
    )


def _served(run: Run, stopped: Callable[[], bool]) -> Any:
    steps, tasks = str(read_recorded(run).steps_per_call), run.plan.worker_tasks
    return serving(run.dir, "step_times", steps, "serve", tasks=tasks, stopped=stopped)


def _by_turns(sides: dict[str, Served], seconds: float) -> dict[str, Any]:
    """Return, for each side, the seconds of a step of its slowest task in each round."""
    rounds: list[dict[str, float]] = []
    began = time.monotonic()
    while len(rounds) < FEWEST_ROUNDS or time.monotonic() - began < seconds:
        order = list(sides)[:: -1 if len(rounds) % 2 else 1]
        row = {}
        for name in order:
            row[name] = max(answer["step_seconds"] for answer in sides[name].ask())
        rounds.append(row)
    return {name: np.array([row[name] for row in rounds]) for name in sides}
