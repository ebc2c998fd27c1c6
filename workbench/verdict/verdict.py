"""The verdict on a run: the reason for the time of a step, and the change to make."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workbench.config import RunConfig
from workbench.devices import Devices
from workbench.plan import PlanError, make_plan
from workbench.runs import Run, RunError
from workbench.runs.folder.files import json_text, read_json, write_text
from workbench.runs.folder.tasks import workers_of
from workbench.runs.programs.kept import read_kept
from workbench.runs.programs.run import run_programs

from .causes import COMPUTE_BOUND, LEAST_SHARE, Case, Suggestion, ranked, suggest, work_of
from .parts import Breakdown, break_down, joined
from .recorded import Recorded, read_recorded

SECONDS = 20.0
START_SECONDS = 10.0
"""The time that the processes of a run take to start, approximately."""
OnProgress = Callable[[str, float], object]
"""A function that receives the current action and the seconds left, approximately."""
FILE, SUGGESTED = "verdict.json", "suggested.json"


@dataclass(frozen=True)
class Verdict:
    """The parts of a step's time, in numbers and in a sentence, and one change."""

    run: str
    breakdown: Breakdown
    recorded: Recorded
    cause: str | None
    """The part that is too large; None if the model's own work takes most of the time."""
    sentence: str
    advice: str
    """The advice for a run that no change of the config helps; empty with a suggestion."""
    suggestion: Suggestion | None
    agrees: bool | None
    """Whether the run itself recorded steps of similar length; None if it has too few calls."""

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values, including values that are computed from others."""
        found = self.breakdown
        values: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(self)))
        values["breakdown"] |= {
            "unexplained_seconds": found.unexplained_seconds,
            "sums_to_step": found.sums_to_step,
            "slowest": None if found.slowest is None else found.slowest.task,
        }
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
    and has at least nine rounds. If the sum of the parts differs from the step by more than 5 %,
    the measurement is repeated once, and both results are joined. A busy machine causes this.

    The run does not change. The verdict is kept in the run's verdict.json, and the suggested config
    in suggested.json. Other work on the machine, such as the run itself if it is still alive,
    affects the times.

    Raises:
        RunError: the run has recorded nothing, it is not synchronous, `seconds` is not a positive
            finite number, or a process fails.
        StoppedError: `stopped`, which is called repeatedly, returned true.
    """
    plan = read_json(run.dir / "plan.json")
    if not run.plan.synchronous:
        raise RunError(
            "A verdict needs a run whose replicas step together; received a run of "
            f"{plan['strategy_label']}, whose workers do not wait for each other. Call own_paces "
            "for the pace of each worker."
        )
    _require_finite(seconds)
    recorded = read_recorded(run, plan)
    options = str(recorded.steps_per_call), str(seconds)

    def measure() -> list[dict[str, Any]]:
        return run_programs(
            run.dir, "step_times", *options, tasks=workers_of(plan), stopped=stopped
        )

    on_progress("Timing steps", START_SECONDS + seconds)
    times = measure()
    found = break_down(times)
    if not found.sums_to_step:
        on_progress("The parts do not sum to the step: timing again", START_SECONDS + seconds)
        found = break_down(joined(times, measure()))
    verdict = conclude(run, recorded, found)
    write_text(run.dir / FILE, json_text(verdict.to_json()))
    if verdict.suggestion is not None:
        config = dataclasses.replace(run.config, **verdict.suggestion.changes)
        write_text(run.dir / SUGGESTED, json_text(config.to_json()))
    else:
        (run.dir / SUGGESTED).unlink(missing_ok=True)
    return verdict


def kept_verdict(run: Run) -> Verdict | None:
    """Return the last verdict on a run; None if there is none.

    Raises:
        RunError: the verdict cannot be read.
    """
    return read_kept(run.dir / FILE, Verdict)


def conclude(run: Run, recorded: Recorded, breakdown: Breakdown) -> Verdict:
    """Return the verdict on a measured step."""
    devices = Devices.from_json(read_json(run.dir / "devices.json"))
    case = Case(run.config, run.plan, devices.cpu_cores, breakdown, recorded.steps_per_call)
    causes = list(ranked(case))
    cause = causes[0] if causes else None
    suggestion = suggest(cause, case, _planner(run, devices)) if cause else None
    template, advice = (cause.sentence, cause.advice) if cause else COMPUTE_BOUND
    recording = sum(part.shown_seconds for part in breakdown.parts if part.name == "recording")
    return Verdict(
        run=run.id,
        breakdown=breakdown,
        recorded=recorded,
        cause=cause.part if cause else None,
        sentence=template.format(**_fields(case, cause.part if cause else "compute")),
        advice="" if suggestion else advice,
        suggestion=suggestion,
        agrees=recorded.agrees(breakdown.step.value - recording),
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
    times = slowest.seconds.value / sorted(others)[len(others) // 2] if slowest else math.nan
    return {
        "share": f"{found.share(part):.0%}",
        "least": f"{LEAST_SHARE:.0%}",
        "slowest": slowest.task.replace("-", " ") if slowest else "another",
        "times": f"{times:.1f}",
        "steps": f"{case.steps_per_call:,} step{'s' * (case.steps_per_call > 1)}",
        "devices": ", ".join(plan.physical_devices),
        "replicas": str(plan.num_replicas_in_sync),
        "work": f"{work_of(case):.1f}",
        "batch": f"{plan.per_replica_batch_size:,}",
    }


def _require_finite(seconds: float) -> None:
    if not 0 < seconds < math.inf:
        raise RunError(
            f"A measurement takes a finite number of seconds above 0; received {seconds:g}. Give "
            f"{SECONDS:g}, for example."
        )
