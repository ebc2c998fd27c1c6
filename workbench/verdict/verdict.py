"""The verdict on a run: the reason for the time of a step, and the change to make, if decided."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from workbench.config import RunConfig
from workbench.devices import Devices
from workbench.plan import PlanError, make_plan
from workbench.runs import Run, RunError
from workbench.runs.folder.files import json_text, write_text
from workbench.runs.programs.detection import devices_of
from workbench.runs.programs.measurement import read_measurement
from workbench.runs.programs.run import run_programs
from workbench.units import short_time

from .causes import (
    COMPUTE_BOUND,
    LEAST_SHARE,
    Case,
    Suggestion,
    ranked,
    suggest,
    undecided,
    without_change,
    work_of,
)
from .parts import Breakdown, break_down, joined
from .recorded import Recorded, read_recorded

SECONDS = 20.0
LONGER = 3
"""The factor by which the next measurement should be longer if the last one decided nothing."""
START_SECONDS = 10.0
"""The time that the processes of a run take to start, approximately."""
OnProgress = Callable[[str, float], object]
"""A function that receives the current action and the seconds left, approximately."""
FILE, SUGGESTED = "verdict.json", "suggested.json"
LONGER_ADVICE = "Measure longer: that narrows the intervals."
BUSY_NOW = (
    "This machine is busy now, or slower than the one that trained. Close other programs and "
    "measure again."
)
BUSY_THEN = (
    "The machine was busy while the run trained, or a slower one trained it. Measure again; if the "
    "result is the same, train again on an idle machine and measure that run."
)


@dataclass(frozen=True)
class Verdict:
    """The parts of a step's time, in numbers and in a sentence, and one change, if decided."""

    run: str
    breakdown: Breakdown
    recorded: Recorded
    seconds: float
    """The seconds that the measurement was asked to last."""
    agrees: bool | None
    """Whether the run itself recorded steps of similar length; None if it has too few calls."""
    sentence: str
    advice: str
    """What to do without a suggestion; empty with one."""
    decided: bool = False
    """False if the run recorded other steps, or if an interval allows more than one answer."""
    cause: str | None = None
    """The part that is too large; None if it is the model's own work, or nothing is decided."""
    suggestion: Suggestion | None = None

    @property
    def next_seconds(self) -> float:
        """The seconds that the next measurement should last, after one that decided nothing."""
        return self.seconds if self.agrees is False else LONGER * self.seconds

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values, including values that are computed from others."""
        found = self.breakdown
        values: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(self)))
        values["breakdown"]["slowest"] = None if found.slowest is None else found.slowest.task
        for part in (*values["breakdown"]["parts"], *values["breakdown"]["within"]):
            part["share"] = found.share(part["name"])
            part["differs_from_zero"] = found.differs(part["name"])
        return values


def judge(
    run: Run,
    seconds: float = SECONDS,
    on_progress: OnProgress = lambda action, left_seconds: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Verdict:
    """Measure the parts of a run's step in separate processes, and return the verdict.

    The measurement starts the run's tasks again, which takes seconds. It then lasts about `seconds`
    and has at least nine rounds. It is repeated once if it decides nothing, or if the parts exceed
    the step by more than 5 %: a busy machine causes both. Both results are then joined, except if
    the first disagrees with the run's own records.

    The run does not change. The verdict is kept in the run's verdict.json, and the suggested config
    in suggested.json. Other work on the machine, such as the run itself if it is still alive,
    affects the times.

    Raises:
        RunError: the run has recorded nothing, it is not synchronous, `seconds` is not a positive
            finite number, or a process fails.
        StoppedError: `stopped`, which is called repeatedly, returned true.
    """
    plan = run.plan
    if not plan.synchronous:
        raise RunError(
            f"Workers of {plan.strategy_label} train asynchronously, so there is no common step "
            "to analyse. Call worker_speeds for the speed of each worker."
        )
    _require_finite(seconds)
    recorded = read_recorded(run)
    options = str(recorded.steps_per_call), str(seconds)

    def measure() -> list[dict[str, Any]]:
        tasks = plan.worker_tasks
        return run_programs(run.dir, "step_times", *options, tasks=tasks, stopped=stopped)

    on_progress("Timing steps", START_SECONDS + seconds)
    answers = measure()
    verdict = conclude(run, recorded, break_down(answers), seconds)
    if not (verdict.decided and verdict.breakdown.fits_step):
        on_progress("The result is not clear: timing again", START_SECONDS + seconds)
        again = measure()
        answers = again if verdict.agrees is False else joined(answers, again)
        verdict = conclude(run, recorded, break_down(answers), seconds)
    write_text(run.dir / FILE, json_text(verdict.to_json()))
    if verdict.suggestion is not None:
        config = dataclasses.replace(run.config, **verdict.suggestion.changes)
        write_text(run.dir / SUGGESTED, json_text(config.to_json()))
    else:
        (run.dir / SUGGESTED).unlink(missing_ok=True)
    return verdict


def saved_verdict(run: Run) -> Verdict | None:
    """Return the last verdict on a run; None if there is none.

    Raises:
        RunError: the verdict cannot be read.
    """
    return read_measurement(run.dir / FILE, Verdict)


def conclude(run: Run, recorded: Recorded, found: Breakdown, seconds: float = SECONDS) -> Verdict:
    """Return the verdict on a step that was measured for so many seconds."""
    devices = devices_of(run.dir)
    case = Case(run.config, run.plan, devices.cpu_cores, found, recorded.steps_per_call)
    in_calls = found.step.value * (1 - found.share("recording"))
    agrees = recorded.agrees(in_calls)
    verdict = partial(Verdict, run.id, found, recorded, seconds, agrees)
    if agrees is False:
        return verdict(*_disagreement(recorded, in_calls))
    cause = next(iter(ranked(case)), None)
    if cause is None and (parts := undecided(found)):
        return verdict(_undecided(found, parts), LONGER_ADVICE)
    cause = cause or without_change(found)
    suggestion = suggest(cause, case, _planner(run, devices))
    return verdict(
        cause.sentence.format(**_fields(case, cause.part)),
        "" if suggestion else cause.advice,
        decided=True,
        cause=None if cause is COMPUTE_BOUND else cause.part,
        suggestion=suggestion,
    )


def _disagreement(recorded: Recorded, in_calls: float) -> tuple[str, str]:
    known = recorded.step.value if recorded.step else math.nan
    sentence = (
        "No verdict: this measurement does not match the run. The run's calls took "
        f"{short_time(known)} per step while it trained, and {short_time(in_calls)} per step "
        "now."
    )
    return sentence, BUSY_NOW if in_calls > known else BUSY_THEN


def _undecided(found: Breakdown, parts: Sequence[str]) -> str:
    ranges = ((name, found.shares(name)) for name in parts)
    each = [f"{name} ({share.low:.1%} to {share.high:.1%})" for name, share in ranges]
    listed = " and ".join(filter(None, [", ".join(each[:-1]), each[-1]]))
    return (
        f"No verdict yet: only a part that takes at least {LEAST_SHARE:.0%} of a step is worth a "
        f"change, and {listed} may take more or less than that."
    )


def _planner(run: Run, devices: Devices) -> Callable[[RunConfig], bool]:
    facts = run.plan.data_facts

    def can_be_planned(config: RunConfig) -> bool:
        try:
            make_plan(config, devices, facts)
        except PlanError:
            return False
        return True

    return can_be_planned


def _fields(case: Case, part: str) -> dict[str, str]:
    found, plan = case.breakdown, case.plan
    slowest = found.slowest
    others = [pace.seconds.value for pace in found.paces if pace is not slowest]
    ratio = slowest.seconds.value / sorted(others)[len(others) // 2] if slowest else math.nan
    return {
        "share": f"{found.share(part):.0%}",
        "least": f"{LEAST_SHARE:.0%}",
        "slowest": slowest.task.replace("-", " ") if slowest else "another",
        "times": f"{ratio:.1f}",
        "steps": f"{case.steps_per_call:,} step{'s' * (case.steps_per_call > 1)}",
        "devices": ", ".join(plan.physical_devices),
        "replicas": str(plan.num_replicas_in_sync),
        "work": f"{work_of(case):.1f}",
        "batch": f"{plan.per_replica_batch_size:,}",
    }


def _require_finite(seconds: float) -> None:
    if not 0 < seconds < math.inf:
        raise RunError(
            f"Cannot measure for {seconds:g} s. Give a finite number of seconds above 0, such as "
            f"{SECONDS:g}."
        )
