"""The batch finder against limits from another measurement, ten times.

Run it with `python -m tests.benchmarks.batch_finder`. The true size is measured separately from the
search. Two processes train the found size and the size one notch above it; the kernel reports the
peak resident set of each (wait4). The largest size that fits is interpolated linearly between them.
If the data limits the search, the number of examples is the true size.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.report import Limit, print_line
from workbench import RunConfig, make_plan, render_script
from workbench.devices import Devices, detect
from workbench.experiments.searching.batch_finder import find_batch_size
from workbench.experiments.searching.results import NOTCH
from workbench.runs.programs.own_data import inspect_data
from workbench.runs.programs.run import program

MIB = 2**20
OWN = "tests.benchmarks.batch_models"
SEARCH_SECONDS = 1800.0
QUICK = (4, 2, 9)


@dataclass(frozen=True)
class Case:
    """A config and the memory limit of its process."""

    name: str
    limit_mib: int
    config: RunConfig


def case(limit_mib: int, model: str, strategy: str = "one_device", **fields: Any) -> Case:
    """Return a case; a custom model is given by its name only."""
    own = fields.get("data") is None and model != "mlp"
    replicas = fields.get("replicas", 1)
    name = f"{model}, {strategy} x{replicas}, {fields.get('loop', 'custom')}, {limit_mib:,} MiB"
    fields = {"synthetic_examples": 4096, **fields, "model": f"{OWN}:{model}" if own else model}
    config = RunConfig(strategy=strategy, devices=("CPU:0",), **fields)
    return Case(name, limit_mib, config)


CASES = (
    case(900, "one_mib"),
    case(1300, "one_mib"),
    case(1000, "four_mib"),
    case(1400, "four_mib", "default"),
    case(1200, "two_mib", "mirrored", replicas=2),
    case(1200, "one_mib", "mirrored", replicas=3, pipeline="indexed"),
    case(1100, "two_mib", "central_storage", replicas=2),
    case(1300, "four_mib", "mirrored", replicas=2, loop="fit"),
    case(2000, "cnn", data="fashion_mnist"),
    case(1500, "mlp", "mirrored", replicas=3, synthetic_examples=600),
)


def peak_mib(config: RunConfig, size: int, devices: Devices) -> float:
    """Return the kernel's peak memory of a process that trains only this size."""
    sized = dataclasses.replace(config, per_replica_batch_size=size)
    with tempfile.TemporaryDirectory() as folder:
        script = render_script(make_plan(sized, devices, inspect_data(sized)))
        Path(folder, "train.py").write_text(script, encoding="utf-8")
        child = subprocess.Popen(
            [sys.executable, "-u", *program("try_batches", "0", folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(Path.cwd()), "PYTHONSAFEPATH": "1"},
        )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(
            f"A size must train without limit; {size} ended with {child.returncode}."
        )
    return usage.ru_maxrss / 1024


def true_size(each: Case, found: int, devices: Devices) -> float:
    """Return the largest size that fits, interpolated from two separately measured sizes."""
    above = max(found + 1, math.ceil(found * NOTCH))
    first, second = (peak_mib(each.config, size, devices) for size in (found, above))
    slope = (second - first) / (above - found)
    print_line(f"    alone: {found} holds {first:,.0f} MiB, {above} holds {second:,.0f} MiB")
    return found + (each.limit_mib - first) / slope


def ratio(each: Case, devices: Devices) -> float:
    """Return the ratio of the found size to the true size."""
    began = time.monotonic()
    found = find_batch_size(each.config, each.limit_mib, SEARCH_SECONDS, devices)
    size = found.largest_per_replica_batch_size
    if size is None:
        raise RuntimeError(f"A search must find a size; {each.name}: {found.reason}")
    searched = time.monotonic() - began
    data = 600 // 3 if found.ended == "data" else None
    true = data or true_size(each, size, devices)
    print_line(
        f"  {each.name}: found {size}, true {true:.1f}, ended by {found.ended}, "
        f"best {found.best_per_replica_batch_size}, {len(found.trials)} trials in {searched:.0f} s"
    )
    return size / true


def main() -> int:
    """Run all cases; the exit status is 1 if one was missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help=f"the cases {QUICK}")
    every = list(range(len(CASES)))
    options.add_argument("--cases", nargs="+", type=int, choices=every, metavar="N", default=every)
    chosen = options.parse_args()
    devices = detect(import_tensorflow=False)
    reached = []
    for each in (CASES[number] for number in (QUICK if chosen.quick else chosen.cases)):
        off = ratio(each, devices)
        limit = Limit(f"{each.name}: found/true {off:.3f}, off by", "times", at_most=NOTCH)
        reached.append(limit.judge([max(off, 1 / off)]))
    print_line(f"{sum(reached)} of {len(reached)} within a factor of {NOTCH}")
    return int(not all(reached))


if __name__ == "__main__":
    sys.exit(main())
