"""The largest per-replica batch that fits and the fastest, by trials in separate processes."""

from __future__ import annotations

import dataclasses
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from workbench import catalog
from workbench.devices.machine import available_bytes, memory_bytes
from workbench.experiments.searching.batch_trials import Plans, Search
from workbench.experiments.searching.results import BatchProgress, FoundBatch
from workbench.experiments.searching.watched import MIB
from workbench.plan import PlanError, Problem
from workbench.runs.processes.forks import loaded_ahead
from workbench.runs.programs.own_data import inspect_data

if TYPE_CHECKING:
    from workbench.config import RunConfig
    from workbench.devices import Devices

SHARE = 0.9
"""The share of the available memory; other processes may request the rest meanwhile."""
BUDGET_SECONDS = 600.0


def _usual_limit_mib(processes: int) -> int:
    """Return the MiB that each of `processes` processes may have on this machine now."""
    available = available_bytes()
    if available is None:
        available = memory_bytes() // 2
    return max(1, int(available * SHARE) // processes // MIB)


def _check_limit(limit_mib: int | None, processes: int, *, on_cpu: bool) -> None:
    """Refuse a limit below 1 MiB or, on a CPU, one that the processes cannot all have now.

    Raises:
        PlanError: the limit is refused; the problem gives the rule.
    """
    if limit_mib is None:
        return
    if limit_mib < 1:
        fix = "Leave it empty, or set it to 2048, for example."
        raise PlanError([Problem("memory_limit", "MiB above 0", str(limit_mib), fix)])
    available = available_bytes()
    if on_cpu and available is not None and limit_mib * processes > available // MIB:
        most = available // MIB // processes
        rule = f"at most {most:,} MiB for each of {processes} processes, which is available now"
        if processes == 1:
            rule = f"at most {most:,} MiB, which is available now"
        fix = "Set it to less, or leave it empty."
        raise PlanError([Problem("memory_limit", rule, f"{limit_mib:,}", fix)])


def find_batch_size(
    config: RunConfig,
    memory_limit_mib: int | None = None,
    budget_seconds: float = BUDGET_SECONDS,
    devices: Devices | None = None,
    on_progress: Callable[[BatchProgress], None] = lambda progress: None,
    stopped: Callable[[], bool] = lambda: False,
) -> FoundBatch:
    """Find the largest per-replica batch that fits and the one with the best throughput.

    Each trial uses the script that a run of that batch would have. It trains some steps, does a
    test step and saves, in a process that may run out of memory. Sizes are doubled from 1, at first
    in one process, because a size that fits in addition to the rest of smaller sizes also fits
    alone. From the first size that does not fit on, each size has a separate process.

    Args:
        config: the config to train; its batch sizes are ignored.
        memory_limit_mib: of each process on a CPU, of each replica on GPUs. None: on a CPU, the
            available memory less a tenth, in equal parts for all processes; on GPUs, the memory
            that the config's `gpu_memory` allows.
        budget_seconds: how long the search may take.
        devices: the devices of this machine; None: they are detected now.
        on_progress: called when a trial starts or ends, and twice a second.
        stopped: asked many times a second; true ends the search, and the results so far are
            returned.

    Raises:
        PlanError: the config cannot be planned, its strategy is asynchronous, or the limit or
            budget is not valid.
        RunError: a trial failed for another reason than memory, not even one example a replica
            fits, or the budget ended before the first trial.
    """
    from workbench.runs.programs.detection import detect_devices

    _check(config, budget_seconds)
    devices = devices or detect_devices(config.interpreter)
    facts = inspect_data(config)
    plans = Plans(config, devices, facts)
    on_cpu = plans.first.physical_devices[0].startswith("CPU")
    processes = len(plans.first.tasks)
    _check_limit(memory_limit_mib, processes, on_cpu=on_cpu)
    limit_mib = memory_limit_mib
    if on_cpu:
        limit_mib = limit_mib or _usual_limit_mib(processes)
    else:
        if limit_mib is not None:
            limited = dataclasses.replace(config, gpu_memory=limit_mib)
            plans = Plans(limited, devices, facts)
        asked = plans.first.gpu_memory
        limit_mib = asked if isinstance(asked, int) else None
    deadline = time.monotonic() + budget_seconds
    legacy = plans.first.legacy_keras
    with (
        loaded_ahead(config.interpreter, legacy=legacy, start=config.start),
        tempfile.TemporaryDirectory(prefix="workbench-find-") as folder,
    ):
        search = Search(plans, Path(folder), limit_mib, on_cpu, deadline, on_progress, stopped)
        return search.run(budget_seconds)


def _check(config: RunConfig, budget_seconds: float) -> None:
    problems = []
    row = catalog.STRATEGIES.get(config.strategy)
    if row is not None and (row.tpu or not row.synchronous):
        fitting = [name for name, each in catalog.STRATEGIES.items() if each.synchronous]
        known = ", ".join(name for name in fitting if not catalog.STRATEGIES[name].tpu)
        rule = f"a synchronous one on CPUs or GPUs ({known})"
        problems.append(Problem("strategy", rule, config.strategy, "Choose mirrored."))
    if not budget_seconds > 0:
        fix = f"Set it to {BUDGET_SECONDS:g}, for example."
        problems.append(Problem("budget", "seconds above 0", f"{budget_seconds:g}", fix))
    if problems:
        raise PlanError(problems)
