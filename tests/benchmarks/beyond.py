"""Runs of several workers: a rehearsal and its recovery, the delay of records, scaling.

`python -m tests.benchmarks.beyond [--quick]`. The load test has only writers and a reader. Eight
workers write records of 1,000 steps per second each, as scripts do, without training. The reader
polls ten times a second and must get every step.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.benchmarks.report import Limit, print_line
from workbench.config import RunConfig
from workbench.plan import rehearsed
from workbench.runs import Run, start_run
from workbench.runs.records.reader import StepReader
from workbench.runs.supervise.watchdog import recent_calls

STARTED = Limit("rehearsal, from the click to the first records", "s", at_most=30)
RECOVERED = Limit("from the kill of a worker until steps continue", "s", at_most=30)
LATE = Limit("delay of a record of two real workers after its call", "s", at_most=1)
LAG = Limit("load test of writers and reader only, 8 x 1,000 steps/s: delay", "s", at_most=1)
MISSING = Limit("steps that the reader of the load test misses", "", at_most=0, always=True)
WORKERS, CALLS_A_SECOND, STEPS_A_CALL = 8, 10, 100
PATIENCE_SECONDS = 120.0
POLL_SECONDS = 0.1


def until(true: Callable[[], bool]) -> None:
    """Wait for a condition, with frequent checks; a run that fails meanwhile ends the benchmark."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not true():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {PATIENCE_SECONDS:g} s")
        time.sleep(0.02)


def rehearse(root: Path) -> tuple[float, float, float]:
    """Return the seconds to the first records, of the recovery, and of the most delayed record."""
    began = time.monotonic()
    run = start_run(rehearsed(RunConfig(epochs=1_000)), root)
    until(lambda: run.progress.step > 0)
    started = time.monotonic() - began
    late = latest_of(run, seconds=10.0)
    before, attempts = run.progress.step, starts_of(run)
    killed = time.monotonic()
    run.kill(run.tasks[-1])
    until(lambda: starts_of(run) > attempts and run.progress.step > before)
    recovered = time.monotonic() - killed
    run.stop()
    run.wait()
    if run.missing:
        raise RuntimeError(f"steps are missing: {run.missing}")
    return started, recovered, late


def starts_of(run: Run) -> int:
    """Return the number of times that the leading task has started to train."""
    return sum(event["event"] == "start" for event in run.events())


def latest_of(run: Run, seconds: float) -> float:
    """Return the longest delay from the end of a call to the moment when its record is seen.

    The call of each new record counts: if several records come together, the first is the latest.
    """
    seen: dict[str, float] = {}
    late = []
    until_then = time.monotonic() + seconds
    while time.monotonic() < until_then:
        for task in run.tasks:
            calls = recent_calls(run.dir / task / "calls.f8")
            now, last = time.time(), seen.get(task, math.inf)
            late += [now - start - took for _, _, start, took in calls if start > last]
            seen[task] = max((start for _, _, start, _ in calls), default=last)
        time.sleep(0.05)
    return max(late)


def load(root: Path, seconds: float) -> tuple[float, float]:
    """Return the reader's longest delay in seconds, and the number of missing steps."""
    from workbench.observe.folder.records import Call, Kind, Records

    folders = [root / f"worker-{worker}" for worker in range(WORKERS)]
    calls = int(seconds * CALLS_A_SECOND)
    rows = np.random.default_rng(0).random((STEPS_A_CALL, 1, 3), np.float32)
    written_at: list[dict[int, float]] = [{} for _ in folders]
    began = time.monotonic()

    def write(worker: int) -> None:
        records = Records(folders[worker])
        for call in range(calls):
            time.sleep(max(0.0, began + call / CALLS_A_SECOND - time.monotonic()))
            written_at[worker][(call + 1) * STEPS_A_CALL] = time.monotonic()
            kind = Kind(trains=True, scalars=())
            records.add(Call(call * STEPS_A_CALL, kind, rows, time.time(), 1 / CALLS_A_SECOND))
        records.flush()

    for folder in folders:
        folder.mkdir(parents=True)
    readers = [StepReader(folder, 1) for folder in folders]
    threads = [threading.Thread(target=write, args=(worker,)) for worker in range(WORKERS)]
    for thread in threads:
        thread.start()
    read, lag, last_reading = [0] * WORKERS, 0.0, False
    while not last_reading:
        last_reading = not any(thread.is_alive() for thread in threads)
        for worker, reader in enumerate(readers):
            for block in reader.poll():
                known, read[worker] = read[worker], block.first_step + len(block.values)
                lag = max(lag, time.monotonic() - written_at[worker][known + STEPS_A_CALL])
        time.sleep(POLL_SECONDS)
    took = time.monotonic() - began
    print_line(f"{sum(read) / took:,.0f} steps per second of {WORKERS} workers were read")
    return lag, float(WORKERS * calls * STEPS_A_CALL - sum(read))


def weak_scaling(root: Path, epochs: int) -> None:
    """Print the speed of one and of two workers, each with the same batch."""
    speeds = []
    for workers in (1, 2):
        config = RunConfig(
            strategy="multi_worker_mirrored", workers=workers, epochs=epochs, model="mlp"
        )
        run = start_run(config, root)
        run.wait()
        speeds.append(float(run.result()["examples_per_second"]))
    cores = os.cpu_count()
    print_line(
        f"weak scaling, 64 per replica, {cores} cores: 1 worker {speeds[0]:,.0f} examples/s, "
        f"2 workers {speeds[1]:,.0f}, efficiency {speeds[1] / speeds[0] / 2:.0%}"
    )


def main() -> int:
    """Measure and print; the exit status is 1 if a limit is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="one round, to try the benchmark")
    quick = options.parse_args().quick
    with tempfile.TemporaryDirectory() as folder:
        os.environ["WORKBENCH_STATE"] = f"{folder}/state"
        rounds = [rehearse(Path(folder)) for _ in range(1 if quick else 3)]
        limits, figures = (STARTED, RECOVERED, LATE), zip(*rounds, strict=True)
        reached = [limit.judge(values) for limit, values in zip(limits, figures, strict=True)]
        lag, missing = load(Path(folder) / "load", 5.0 if quick else 20.0)
        reached += [LAG.judge([lag]), MISSING.judge([missing])]
        weak_scaling(Path(folder), 5 if quick else 20)
    return int(not all(reached))


if __name__ == "__main__":
    sys.exit(main())
