"""The results of one run, in the numbers by which runs are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from workbench.runs.folder.state import LIVE
from workbench.runs.records.cache import OVER, CacheFile, RunLines, Stamp, stamp_of

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.runs import Run

KEPT = CacheFile("measures.json", 6)
"""So that a table of many runs is read quickly."""


@dataclass(frozen=True)
class Measures:
    """The numbers of one run. None is unknown, or has not happened."""

    run: str
    """The run's id."""
    status: str
    steps: int
    replicas: int
    """The replicas that train simultaneously; for ParameterServer, its workers."""
    global_batch_size: int | None
    """None if workers are asynchronous."""
    examples_per_second: float | None
    """Steady: without first calls and test passes."""
    step_seconds_median: float | None
    step_seconds_p95: float | None
    """The 95th percentile of the steps. Each step of a call counts with the call's mean."""
    peak_host_bytes: int | None
    """The sum over all tasks, each at its own peak."""
    peak_device_bytes: int | None
    """The peak of the GPU or TPU that held most."""
    loss: float | None
    accuracy: float | None
    test_loss: float | None
    test_accuracy: float | None
    training_seconds: float | None
    """Seconds of its training calls, in the epochs that are over."""
    epoch_ends: tuple[tuple[float, float], ...]
    """For each epoch that is over: the seconds of training up to its end, and its accuracy. The
    accuracy comes from the test, or from training if nothing is tested. NaN is unknown."""
    made_of: Mapping[str, str]
    """The values that are equal in runs that train the same, in words: data, model, batch, seed,
    learning rate, precision, XLA."""

    @property
    def alive(self) -> bool:
        """Whether it goes on, so that its numbers will change."""
        return self.status in LIVE

    def reached(self, accuracy: float) -> bool:
        """Return whether an epoch ended with this accuracy."""
        return any(reached >= accuracy for _, reached in self.epoch_ends)

    def target_seconds(self, accuracy: float) -> float | None:
        """Return the seconds of training until the end of the first epoch with this accuracy.

        None if no epoch has it, or if the seconds are unknown.
        """
        for seconds, reached in self.epoch_ends:
            if reached >= accuracy:
                return seconds if np.isfinite(seconds) else None
        return None


def measure(run: Run) -> Measures:
    """Return a run's measures; if the run is over, they are kept in its folder.

    Raises:
        RunError: its folder is missing or cannot be read.
    """
    stamp = stamp_of(run.dir)
    kept = _kept(run.dir, stamp)
    if kept is not None:
        return kept
    measures = _measured(run)
    if measures.status in OVER:
        KEPT.write(run.dir, stamp, asdict(measures))
    return measures


def measure_whole(run: Run) -> Measures:
    """Return a run's measures and leave in its folder what tables and curves show of it.

    Raises:
        RunError: its folder is missing or cannot be read.
    """
    RunLines(run.dir, run.plan).read()
    return measure(run)


def _measured(run: Run) -> Measures:
    summary, epochs, seconds, plan = run.summary, run.epochs(), run.step_seconds(), run.plan
    peaks = run.peak_bytes
    on_devices = [held for own in run.device_peak_bytes.values() for held in own.values()]
    median, p95 = np.percentile(seconds, [50, 95]).tolist() if len(seconds) else (None, None)
    ends = np.cumsum(epochs["seconds"].to_numpy())
    tested = epochs["test_accuracy"].notna().any()
    accuracies = epochs["test_accuracy" if tested else "accuracy"].tolist()
    return Measures(
        run=run.id,
        status=summary.status,
        steps=summary.progress.step,
        replicas=plan.num_replicas_in_sync if plan.synchronous else plan.workers,
        global_batch_size=plan.global_batch_size,
        examples_per_second=run.totals.examples_per_second,
        step_seconds_median=median,
        step_seconds_p95=p95,
        peak_host_bytes=sum(peaks.values()) if len(peaks) == len(run.tasks) else None,
        peak_device_bytes=max(on_devices, default=None),
        loss=summary.results["loss"],
        accuracy=summary.results["accuracy"],
        test_loss=summary.results["test_loss"],
        test_accuracy=summary.results["test_accuracy"],
        training_seconds=float(ends[-1]) if len(ends) and np.isfinite(ends[-1]) else None,
        epoch_ends=tuple(zip(ends.tolist(), accuracies, strict=True)),
        made_of=summary.made_of,
    )


def _kept(run_dir: Path, stamp: Stamp) -> Measures | None:
    """Return the kept measures of a run that has not gone on since."""
    found = KEPT.read(run_dir, stamp)
    if found is None:
        return None
    values, _ = found
    try:
        values["epoch_ends"] = tuple(map(tuple, values["epoch_ends"]))
        return Measures(**{**values, "run": run_dir.name})
    except (LookupError, TypeError):
        return None
