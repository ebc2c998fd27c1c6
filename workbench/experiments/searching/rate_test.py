"""The learning-rate range test: a run's own script, with a learning rate that rises each step.

L. N. Smith, Cyclical Learning Rates for Training Neural Networks, WACV 2017, section 3.3.
"""

from __future__ import annotations

import dataclasses
import math
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from workbench import catalog
from workbench.experiments.searching.results import RateProgress, RateTest
from workbench.experiments.searching.watched import End, run_watched
from workbench.plan import PlanError, Problem, make_plan
from workbench.runs import RunError
from workbench.runs.processes.environment import Launch
from workbench.runs.programs.own_data import inspect_data
from workbench.runs.programs.run import program

if TYPE_CHECKING:
    from workbench.config import RunConfig
    from workbench.devices import Devices
    from workbench.plan import Plan

BETA = 0.9
"""The weight of the past in the smoothed loss, so that it remembers about ten steps."""
SMOOTHED_STEPS = round(1 / (1 - BETA))
DIVERGED = 4.0
"""A smoothed loss of more than this many times the best one has diverged."""
PART = 10
"""The first tenth of the steps shows where the loss begins and how it scatters. Lines through a
tenth of the steps show how steeply it falls."""
LEAST_OF_PART = 5
ERRORS = 4.0
"""A fall counts if it is more than this many standard errors."""
LEAST_FALL = 0.01
"""A fall must also be more than this share of the loss at the start."""
LOWEST, HIGHEST, STEPS = 1e-7, 10.0, 150
LEAST_STEPS = 50
REPORT_SECONDS = 0.2


@dataclass(frozen=True)
class Reading:
    """The values read from a curve; None if the curve does not show them."""

    suggestion: float | None
    """The rate at which the loss falls fastest, to two digits."""
    minimum_rate: float | None
    """The rate at which the smoothed loss is lowest."""
    reason: str


def smoothed(losses: Sequence[float]) -> list[float]:
    """Return the exponential moving average of losses, corrected for its start at zero.

    As in Adam (Kingma and Ba, 2015, section 3): the average of the first n values is divided by
    1 - BETA^n.
    """
    values, average = [], 0.0
    for number, loss in enumerate(losses, start=1):
        average = BETA * average + (1 - BETA) * loss
        values.append(average / (1 - BETA**number))
    return values


def has_diverged(losses: Sequence[float]) -> bool:
    """Return whether the last loss is not finite, or smoothed over `DIVERGED` times the best.

    The first `SMOOTHED_STEPS` - 1 values are not judged, because they are hardly smoothed yet. If
    the best loss is below zero, a multiple makes no sense; then a rise by the same amount counts.
    """
    if losses and not math.isfinite(losses[-1]):
        return True
    values = smoothed(losses)[SMOOTHED_STEPS - 1 :]
    if not values:
        return False
    best = min(values)
    return values[-1] > best + (DIVERGED - 1) * abs(best)


def read_curve(rates: Sequence[float], losses: Sequence[float], steps: int) -> Reading:
    """Return the rate of steepest descent before the minimum (Smith 2017, section 3.3).

    The slope at a rate is the slope of a least-squares line over the logarithm of the rate. The
    line goes through the raw losses of a tenth of the steps around the rate, because the smoothed
    loss lags behind and would give a rate that is too high. The inspected rates begin where the
    smoothed loss leaves its start, and end where it is lowest.

    Args:
        rates: rising; one for each loss.
        losses: raw; only the last may be not finite.
        steps: the steps of the complete test; fewer were done if it diverged.
    """
    known = [loss for loss in losses if math.isfinite(loss)]
    first = max(LEAST_OF_PART, steps // PART)
    if len(known) < 2 * first:
        few = f"The loss diverged, or the test ended, after {len(known)} steps: too few to read"
        return Reading(None, None, f"{few} the curve. Start at a lower rate.")
    raw, smooth = np.array(known), np.array(smoothed(known))
    lowest = SMOOTHED_STEPS - 1 + int(np.argmin(smooth[SMOOTHED_STEPS - 1 :]))
    start, scatter = float(raw[:first].mean()), float(raw[:first].std(ddof=1))
    error = scatter * math.sqrt((1 - BETA) / (1 + BETA) + 1 / first)
    least = max(ERRORS * error, LEAST_FALL * abs(start))
    fall = start - float(smooth[lowest])
    if fall <= least:
        never = f"The loss never fell clearly: from {start:.4g} to {smooth[lowest]:.4g} at best."
        noise = f"Different batches alone can change it by {least:.2g}."
        return Reading(None, None, f"{never} {noise} Try higher rates, or check the data.")
    begin = int(np.flatnonzero(smooth[: lowest + 1] > start - least)[-1:].sum())
    steepest = _steepest(np.log10(rates[: len(raw)]), raw, begin, lowest, first | 1)
    rate, minimum = float(rates[steepest]), float(rates[lowest])
    reason = (
        f"The loss falls fastest at {rate:.2g} (least-squares lines through {first | 1} steps); "
        f"it is lowest at {minimum:.2g}."
    )
    return Reading(float(f"{rate:.2g}"), minimum, reason)


def shown_losses(smooth: Sequence[float]) -> tuple[float, float]:
    """Return the least and greatest loss that a figure of a curve shows.

    If the loss diverged, the raw loss would make the rest of the curve flat.
    """
    least, most = min(smooth), max(smooth[: max(1, len(smooth) // 2)])
    margin = 0.25 * max(most - least, 1e-9)
    return least - margin, most + 3 * margin


def _steepest(x: np.ndarray, y: np.ndarray, begin: int, end: int, width: int) -> int:
    """Return the step from `begin` to `end` whose line through its neighbours falls most."""
    half = width // 2
    places = range(max(begin, half), min(end, len(y) - 1 - half) + 1) or [min(end, len(y) - 1)]

    def slope(at: int) -> float:
        near = slice(max(0, at - half), at + half + 1)
        return float(np.polyfit(x[near], y[near], 1)[0])

    return min(places, key=slope)


def find_learning_rate(
    config: RunConfig,
    lowest: float = LOWEST,
    highest: float = HIGHEST,
    steps: int = STEPS,
    devices: Devices | None = None,
    on_progress: Callable[[RateProgress], None] = lambda progress: None,
    stopped: Callable[[], bool] = lambda: False,
) -> RateTest:
    """Train from the start; multiply the learning rate at each step until the loss diverges.

    The factor is the same at each step. The test trains the script that the run would have, with
    its seed, first weights and order of examples, one step a call, in separate processes. Nothing
    of it is kept.

    Args:
        config: the config to train; its learning rate is not used in training.
        lowest: the learning rate of the first step.
        highest: the learning rate of the last step.
        steps: the number of steps; if the data has fewer, it is repeated.
        devices: the devices of this machine; None: they are detected now.
        on_progress: called now and then as steps are done.
        stopped: asked many times a second; true ends the test, and the results so far are returned.

    Raises:
        PlanError: the config cannot be planned, its strategy is asynchronous, or rates or
            steps are out of range.
        RunError: training failed.
    """
    from workbench.runs.programs.detection import detect_devices

    _check(config, lowest, highest, steps)
    devices = devices or detect_devices(config.interpreter)
    asked = dataclasses.replace(config, epochs=1, steps_per_epoch=steps, steps_per_call=1)
    plan = make_plan(asked, devices, inspect_data(config))
    test = _Test(plan, steps, on_progress, stopped)
    with tempfile.TemporaryDirectory(prefix="workbench-find-") as folder:
        return test.run(Path(folder), lowest, highest)


def _check(config: RunConfig, lowest: float, highest: float, steps: int) -> None:
    problems = []
    row = catalog.STRATEGIES.get(config.strategy)
    if row is not None and not row.synchronous:
        rule = "a synchronous one, so that all replicas have the same learning rate"
        problems.append(Problem("strategy", rule, config.strategy, "Choose mirrored."))
    if not 0 < lowest < math.inf:
        problems.append(Problem("lowest", "a rate above 0", f"{lowest:g}", f"Set it to {LOWEST}."))
    if not lowest < highest < math.inf:
        rule = f"a rate above the lowest, {lowest:g}"
        problems.append(Problem("highest", rule, f"{highest:g}", f"Set it to {HIGHEST:g}."))
    if steps < LEAST_STEPS:
        rule = f"at least {LEAST_STEPS}, because fewer show no readable curve"
        problems.append(Problem("steps", rule, f"{steps}", f"Set it to {STEPS}."))
    if problems:
        raise PlanError(problems)


class _Test:
    """One test; its curve grows with each step."""

    def __init__(
        self,
        plan: Plan,
        steps: int,
        on_progress: Callable[[RateProgress], None],
        stopped: Callable[[], bool],
    ) -> None:
        self._plan, self._steps, self._stopped = plan, steps, stopped
        self._on_progress = on_progress
        self._rates: list[float] = []
        self._losses: list[float] = []
        self._began = self._reported_at = time.monotonic()
        self._first_at: float | None = None

    def run(self, folder: Path, lowest: float, highest: float) -> RateTest:
        """Train, and read the curve."""
        from workbench.codegen import render_script

        script = folder / "train.py"
        script.write_text(render_script(self._plan), encoding="utf-8")
        test = program("raise_rate", str(script), repr(lowest), repr(highest), str(self._steps))
        launch, tasks = Launch.of_plan(self._plan, Path.cwd()), self._plan.tasks
        start = self._plan.config.start
        ending = run_watched(
            launch, test, tasks, folder, self._add_step, self._give_up, start=start
        )
        self._report()
        if ending.end == "memory":
            raise RunError(
                f"A batch of {self._plan.per_replica_batch_size:,} per replica does not fit into "
                f"the memory: {ending.reason}. Choose a smaller batch; `workbench find batch-size` "
                "finds the largest."
            )
        if ending.end == "done" and self._give_up() is None:
            raise RunError(
                f"The test ended after {len(self._losses)} of {self._steps} steps, for example "
                "because your own code calls sys.exit. Remove that call."
            )
        return self._result("stopped" if ending.end == "stopped" else self._end_of_curve())

    def _add_step(self, lines: list[dict[str, Any]]) -> None:
        """Add a step, of which each task has reported its own part."""
        if self._losses and has_diverged(self._losses):
            return
        sums = [line["loss_sum"] for line in lines]
        examples = sum(line["examples"] for line in lines)
        self._rates.append(lines[0]["rate"])
        self._losses.append(math.nan if None in sums else sum(sums) / examples)
        self._first_at = self._first_at or time.monotonic()

    def _give_up(self) -> End | None:
        if time.monotonic() - self._reported_at > REPORT_SECONDS:
            self._report()
        if self._stopped():
            return "stopped"
        whole = len(self._losses) == self._steps
        return "done" if whole or has_diverged(self._losses) else None

    def _end_of_curve(self) -> Literal["highest", "diverged"]:
        return "diverged" if has_diverged(self._losses) else "highest"

    def _report(self) -> None:
        self._reported_at = now = time.monotonic()
        done, eta = len(self._losses), None
        if self._first_at is not None and done > 1:
            eta = (now - self._first_at) / (done - 1) * (self._steps - done)
        curve = tuple(self._rates), _known(self._losses)
        self._on_progress(RateProgress(*curve, self._steps, now - self._began, eta))

    def _result(self, ended: Literal["highest", "diverged", "stopped"]) -> RateTest:
        finite = [loss for loss in self._losses if math.isfinite(loss)]
        reading = read_curve(self._rates, self._losses, self._steps)
        return RateTest(
            rates=tuple(self._rates),
            losses=_known(self._losses),
            smoothed=tuple(smoothed(finite)),
            suggestion=reading.suggestion,
            learning_rate=_before_scaling(reading, self._plan),
            minimum_rate=reading.minimum_rate,
            reason=reading.reason,
            ended=ended,
            steps=self._steps,
            optimizer=self._plan.optimizer,
            seconds=time.monotonic() - self._began,
        )


def _known(losses: list[float]) -> tuple[float | None, ...]:
    return tuple(loss if math.isfinite(loss) else None for loss in losses)


def _before_scaling(reading: Reading, plan: Plan) -> float | None:
    """Return the config's learning rate that the plan scales to the suggested one."""
    if reading.suggestion is None or plan.learning_rate is None:
        return reading.suggestion
    factor = plan.learning_rate / plan.config.learning_rate
    return float(f"{reading.suggestion / factor:.2g}")
