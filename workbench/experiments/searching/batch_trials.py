"""The trials of a search for a batch size: in one process while they fit, then in one each."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.experiments.searching.results import (
    BatchProgress,
    Ended,
    FoundBatch,
    Rate,
    Trial,
    best_size,
    doubling,
    next_size,
    trials_left,
)
from workbench.experiments.searching.watched import MIB, End, Ending, run_watched
from workbench.plan import PlanError, make_plan
from workbench.runs import RunError
from workbench.runs.processes.environment import Launch
from workbench.runs.programs.run import program
from workbench.runs.supervise.queue import holders

if TYPE_CHECKING:
    from workbench.config import RunConfig
    from workbench.devices import Devices
    from workbench.plan import Plan
    from workbench.plan.plan import DataFacts

NEARBY = 4
SILENT = (
    "The trial ended before it reported its measurements, for example because your own code calls "
    "sys.exit. Remove that call."
)
REPORT_SECONDS = 0.5
BACKSTOP_MIB = 2048
BACKSTOP_MIB_A_CORE = 64
"""Memory that a process may map beyond its limit without using it: thread stacks, arenas."""


class Plans:
    """The plans of all sizes."""

    def __init__(self, config: RunConfig, devices: Devices, facts: DataFacts | None) -> None:
        self._config, self._devices, self._facts = config, devices, facts
        self.first = self.nearest(1, below=2 + NEARBY)
        """The plan of the smallest size."""
        whole = self.first.num_train_examples // self.first.num_replicas_in_sync
        self.refused = ""
        """Why a larger size than `most` cannot be planned; empty if the data is the limit."""
        self.most = self._most(max(1, whole))
        """The largest size that data and memory allow."""

    def _plan(self, size: int) -> Plan:
        config = dataclasses.replace(
            self._config, per_replica_batch_size=size, global_batch_size=None
        )
        return make_plan(config, self._devices, self._facts)

    def _most(self, whole: int) -> int:
        try:
            return self.nearest(whole).per_replica_batch_size
        except PlanError as error:
            self.refused = str(error.problems[0])
        most, end = self.first.per_replica_batch_size, whole
        while end - most > 1:
            size = (most + end) // 2
            try:
                most = self.nearest(size, most, end).per_replica_batch_size
            except PlanError:
                end = size
        return most

    def nearest(self, size: int, above: int = 0, below: int | None = None) -> Plan:
        """Return the plan of a size, or of the nearest size between two others that has a plan.

        The examples left at the end of an epoch may be too few for a last batch. With one example
        less in each batch they may be enough.

        Raises:
            PlanError: no size near this one has a plan.
        """
        end = size + 1 if below is None else below
        near = [*range(size, above, -1)][:NEARBY] + [*range(size + 1, end)][:NEARBY]
        refused = []
        for each in near:
            try:
                return self._plan(each)
            except PlanError as error:
                refused.append(error)
        raise refused[0]


class Search:
    """One search; its results grow from trial to trial."""

    def __init__(
        self,
        plans: Plans,
        folder: Path,
        limit_mib: int | None,
        on_cpu: bool,
        deadline: float,
        on_progress: Callable[[BatchProgress], None],
        stopped: Callable[[], bool],
    ) -> None:
        self._plans, self._folder, self._limit_mib, self._on_cpu = plans, folder, limit_mib, on_cpu
        self._deadline, self._on_progress, self._stopped = deadline, on_progress, stopped
        self._began = self._reported_at = time.monotonic()
        self._trials: dict[int, Trial] = {}
        self._rates: dict[int, Rate] = {}
        self._trying: int | None = None
        self._end: End | None = None
        self._beside: dict[str, None] = {}

    @property
    def _smallest(self) -> int:
        return self._plans.first.per_replica_batch_size

    @property
    def _fits(self) -> int | None:
        return max((size for size, trial in self._trials.items() if trial.fits), default=None)

    @property
    def _fails(self) -> int | None:
        return min((size for size, trial in self._trials.items() if not trial.fits), default=None)

    def run(self, budget_seconds: float) -> FoundBatch:
        """Double the size, narrow the gap, and return the result."""
        if len(self._plans.first.tasks) == 1:
            self._double_together()
        while self._end is None:
            size = next_size(self._fits, self._fails, self._plans.most)
            if size is None or self._fails == self._smallest:
                break
            end = self._fails or self._plans.most + 1
            self._try_alone(self._plans.nearest(size, self._fits or 0, end))
        self._trying = None
        self._report()
        if not self._trials and self._end == "budget":
            raise RunError(
                f"The budget of {budget_seconds:g} s was over before the first trial ended. Give "
                "the search more seconds."
            )
        if self._fits is None and self._fails is not None:
            raise _nothing_fits(self._trials[self._fails], self._limit_mib)
        return self._result()

    def _double_together(self) -> None:
        """Try all doublings in one process, as far as they fit together."""
        plans: dict[int, Plan] = {}
        for size in doubling(self._plans.most):
            with contextlib.suppress(PlanError):  # another size will do
                plan = self._plans.nearest(size, above=max(plans, default=0))
                plans[plan.per_replica_batch_size] = plan
        left, full = list(plans), list[int]()
        self._trying = left[0]

        def take_next(lines: list[dict[str, Any]]) -> None:
            size = int(lines[0]["folder"])
            if full or not self._take(plans[size], lines, alone=len(left) == len(plans)):
                full.append(size)
                return
            left.remove(size)
            self._trying = left[0] if left else None
            self._report()

        try:
            ending = self._run(
                list(plans.values()), take_next, lambda: "done" if full else self._give_up()
            )
        except RunError:
            if len(left) == len(plans):
                raise
            return  # the size that failed is tried alone, and then it counts
        if len(left) == len(plans) and ending.end == "memory":
            self._take_failure(plans[left[0]], ending.reason)
        elif len(left) == len(plans) and ending.end == "done" and not full:
            raise RunError(SILENT)

    def _try_alone(self, plan: Plan) -> None:
        self._trying = plan.per_replica_batch_size
        self._report()
        fitted = list[bool]()

        def take(lines: list[dict[str, Any]]) -> None:
            fitted.append(self._take(plan, lines, alone=True))

        ending = self._run([plan], take, lambda: "done" if fitted else self._give_up())
        if ending.end == "memory":
            self._take_failure(plan, ending.reason)
        elif ending.end == "done" and not fitted:
            raise RunError(SILENT)
        self._report()

    def _run(
        self,
        plans: list[Plan],
        on_answers: Callable[[list[dict[str, Any]]], None],
        give_up: Callable[[], End | None],
    ) -> Ending:
        from workbench.codegen import render_script

        folders, parent = [], Path(tempfile.mkdtemp(dir=self._folder))  # nothing to resume in it
        for plan in plans:
            folder = parent / str(plan.per_replica_batch_size)
            folder.mkdir()
            (folder / "train.py").write_text(render_script(plan), encoding="utf-8")
            folders.append(str(folder))
        first = plans[0]
        launch = Launch.of_plan(first, Path.cwd())
        watched = self._limit_mib if self._on_cpu else None
        backstop = 0
        if watched is not None:
            backstop = watched + BACKSTOP_MIB + BACKSTOP_MIB_A_CORE * (os.cpu_count() or 1)
        ending = run_watched(
            launch,
            program("try_batches", str(backstop), *folders),
            first.tasks,
            self._folder,
            on_answers,
            give_up,
            None if watched is None else watched * MIB,
            first.config.start,
        )
        if ending.end in ("budget", "stopped"):
            self._end = ending.end
        return ending

    def _give_up(self) -> End | None:
        now = time.monotonic()
        if self._stopped():
            return "stopped"
        if now > self._deadline:
            return "budget"
        if now - self._reported_at > REPORT_SECONDS:
            self._report()
        return None

    def _take(self, plan: Plan, lines: list[dict[str, Any]], *, alone: bool) -> bool:
        """Record a measured size; return whether it certainly fits."""
        size, peak = plan.per_replica_batch_size, max(line["peak_bytes"] for line in lines)
        over = self._on_cpu and self._limit_mib is not None and peak > self._limit_mib * MIB
        if over:
            if alone:
                most = f"it used {peak // MIB:,} MiB, more than the {self._limit_mib:,} MiB allowed"
                self._take_failure(plan, most)
            return False
        rate = Rate.of(plan.examples_per_step, lines[0]["blocks"])
        self._rates[size] = rate
        self._trials[size] = Trial.of(size, peak, rate, alone=alone)
        return True

    def _take_failure(self, plan: Plan, reason: str) -> None:
        size = plan.per_replica_batch_size
        self._rates.pop(size, None)
        self._trials[size] = Trial(size, plan.examples_per_step, fits=False, reason=reason)

    def _report(self) -> None:
        self._reported_at = time.monotonic()
        self._beside.update(dict.fromkeys(map(str, holders(self._plans.first.physical_devices))))
        elapsed_seconds = self._reported_at - self._began
        known = self._by_size(), self._trying, elapsed_seconds, self._eta_seconds()
        self._on_progress(BatchProgress(*known, tuple(self._beside)))

    def _by_size(self) -> tuple[Trial, ...]:
        return tuple(self._trials[size] for size in sorted(self._trials))

    def _eta_seconds(self) -> float | None:
        if not self._trials:
            return None
        now = time.monotonic()
        left = trials_left(self._fits, self._fails, self._plans.most, self._expected_size())
        each = (now - self._began) / len(self._trials)
        return min(left * each, max(0.0, self._deadline - now))

    def _expected_size(self) -> float | None:
        """Return the size at which memory may end, by the last two trials; None: there is none."""
        known = [trial for trial in self._by_size() if trial.peak_mib is not None][-2:]
        if self._limit_mib is None or len(known) < 2:
            return None
        (one, first), (two, second) = (
            (trial.per_replica_batch_size, trial.peak_mib or 0.0) for trial in known
        )
        slope = (second - first) / (two - one)
        return two + max(0.0, self._limit_mib - second) / slope if slope > 0 else None

    def _result(self) -> FoundBatch:
        ended, reason = self._why_ended()
        return FoundBatch(
            trials=self._by_size(),
            largest_per_replica_batch_size=self._fits,
            best_per_replica_batch_size=best_size(self._rates),
            ended=ended,
            reason=reason,
            num_replicas_in_sync=self._plans.first.num_replicas_in_sync,
            memory_limit_mib=self._limit_mib,
            seconds=time.monotonic() - self._began,
            beside=tuple(self._beside),
        )

    def _why_ended(self) -> tuple[Ended, str]:
        if self._end == "stopped":
            return "stopped", "The search was stopped: a larger batch may fit."
        if self._end == "budget":
            return "budget", "The budget was spent: a larger batch may fit."
        if self._fails is not None:
            why = self._trials[self._fails].reason
            return "memory", f"{self._fails:,} per replica do not fit: {why}."
        if self._plans.refused:
            return "memory", self._plans.refused
        examples = f"{self._plans.first.num_train_examples:,} examples"
        reason = f"The data is the limit: {examples} allow at most {self._fits:,} per replica."
        return "data", reason


def _nothing_fits(trial: Trial, limit_mib: int | None) -> RunError:
    limit = "the GPU's memory" if limit_mib is None else f"{limit_mib:,} MiB"
    size = trial.per_replica_batch_size
    return RunError(
        f"A batch of {size} example{'s' * (size > 1)} per replica does not fit into {limit}: "
        f"{trial.reason}. Allow more memory, or make the model or the data smaller."
    )
