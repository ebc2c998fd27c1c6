"""The learning-rate range test: a run's own script, with a learning rate that rises each step.

L. N. Smith, Cyclical Learning Rates for Training Neural Networks, WACV 2017, section 3.3.
"""

from __future__ import annotations

import dataclasses
import math
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from workbench import catalog
from workbench.plan import PlanError, Problem, make_plan
from workbench.runs import RunError
from workbench.runs.processes.environment import Launch
from workbench.runs.programs.own_data import inspect_data
from workbench.runs.programs.run import program

from .found_rate import RateProgress, RateTest
from .rate_curve import Reading, has_diverged, read_curve, smoothed
from .watched import End, run_watched

if TYPE_CHECKING:
    from workbench.config import RunConfig
    from workbench.devices import Devices
    from workbench.plan import Plan

LOWEST, HIGHEST, STEPS = 1e-7, 10.0, 150
LEAST_STEPS = 50
REPORT_SECONDS = 0.2


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
