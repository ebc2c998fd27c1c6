"""The reading of a run of 1,000,000 steps x 8 replicas into a frame: time, disk, memory.

`python -m tests.benchmarks.reading [--steps N] [--quick]` writes the records in a temporary folder
and reads them in turn with `replica_steps`, as a frame of one metric, and with a plain
`np.fromfile`, in one process. It prints the medians and quartiles in seconds, the bytes on disk and
the bytes in memory.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from tests.benchmarks.report import Limit, print_line
from tests.machines import LAPTOP
from workbench.config import RunConfig
from workbench.plan import make_plan
from workbench.runs import Run
from workbench.runs.folder.files import json_text, make_folder, new_id

REPLICAS = 8
STEPS_PER_CALL = 50
COLUMNS = ["step", "replica", "loss"]
LIMIT = Limit("a frame of one metric", "s", at_most=1.0)
ROUNDS = 11
QUICK_ROUNDS = 3


def make_run(root: Path, steps: int) -> Run:
    """Write a finished run's folder with records of all steps."""
    epochs = {"steps_per_epoch": 1000, "epochs": max(1, steps // 1000), "total_steps": steps}
    plan = replace(
        make_plan(RunConfig(), LAPTOP),
        num_replicas_in_sync=REPLICAS,
        local_replicas=REPLICAS,
        **epochs,
    )
    run_id = new_id(root)
    texts = {
        "config.json": json_text(RunConfig().to_json()),
        "plan.json": json_text(plan.to_json()),
        "run.json": json_text({"version": 1, "id": run_id, "state_dir": str(root / "state")}),
        "train.py": "",
    }
    folder = make_folder(root, run_id, texts)
    values = np.random.default_rng(42).random((steps, REPLICAS, 3), np.float32)
    values[..., 2] = 64
    values.tofile(folder / "worker-0" / "steps.f4")
    first = np.arange(0, steps, STEPS_PER_CALL, dtype=np.float64)
    calls = np.stack([first, np.minimum(STEPS_PER_CALL, steps - first), first, 0 * first + 0.1], 1)
    calls.tofile(folder / "worker-0" / "calls.f8")
    return Run(folder)


def timed(read: Callable[[], object]) -> float:
    """Return the seconds of reading; the result is dropped."""
    began = time.perf_counter()
    read()
    return time.perf_counter() - began


def main() -> int:
    """Measure and print; the exit status is 1 if the frame of one metric takes too long."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--steps", type=int, default=1_000_000)
    options.add_argument("--quick", action="store_true", help="few rounds, to try the benchmark")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = make_run(Path(folder), chosen.steps)
        records = run.dir / "worker-0" / "steps.f4"
        sides: dict[str, Callable[[], object]] = {
            "np.fromfile": lambda: np.fromfile(records, "<f4"),
            f"replica_steps({COLUMNS})": lambda: run.replica_steps(columns=COLUMNS),
            "replica_steps()": run.replica_steps,
            "steps()": run.steps,
        }
        seconds: dict[str, list[float]] = {name: [] for name in sides}
        for _ in range(QUICK_ROUNDS if chosen.quick else ROUNDS):
            for name, read in sides.items():
                seconds[name].append(timed(read))
        report(run, chosen.steps, seconds)
    return int(not LIMIT.judge(seconds[f"replica_steps({COLUMNS})"]))


def report(run: Run, steps: int, seconds: dict[str, list[float]]) -> None:
    """Print medians and quartiles in seconds, and sizes in bytes."""
    rows = steps * REPLICAS
    print_line(f"{steps:,} steps x {REPLICAS} replicas, {STEPS_PER_CALL} steps per call")
    for name, times in seconds.items():
        low, middle, high = statistics.quantiles(times, n=4)
        print_line(f"{name:44} {middle:7.3f} s  [{low:.3f}, {high:.3f}]")
    for kind in ("steps", "calls"):
        size = sum(path.stat().st_size for path in run.dir.glob(f"worker-0/*.{kind}"))
        print_line(f"disk, .{kind}: {size:,} bytes, {size / rows:.2f} per replica-step")
    for columns in (COLUMNS, None):
        frame = run.replica_steps(columns)
        size = int(frame.memory_usage(index=False).sum())
        print_line(f"memory, {columns or 'all columns'}: {size:,} bytes, {size / rows:.0f} per row")


if __name__ == "__main__":
    sys.exit(main())
