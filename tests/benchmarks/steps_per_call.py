"""Many steps in a graph call against one step, in two worker processes.

`python -m tests.benchmarks.steps_per_call [--quick]` trains the MLP with MultiWorkerMirrored on two
workers as runs of the workbench, in turn with one step per call and with the number of steps that
takes 0.2 s. It compares the steady rate of the records, without the first call and the test passes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import replace

import numpy as np

from tests.benchmarks.report import Comparison, conclude, print_line
from workbench import start_run
from workbench.config import RunConfig
from workbench.devices import Devices, detect

ROUNDS = 5
QUICK_ROUNDS = 2
MLP = RunConfig(
    strategy="multi_worker_mirrored", workers=2, global_batch_size=64, epochs=2, start_now=True
)
STEPS_PER_EPOCH = {"custom": 1_000, "fit": 1_000}


def steps_per_second(config: RunConfig, devices: Devices, folder: str) -> float:
    """Train and return the steady rate."""
    run = start_run(config, folder, devices)
    if run.wait() != "finished":
        raise RuntimeError(f"The run must finish; it {run.status}: {run.failure}")
    return float(run.result()["examples_per_second"]) / run.plan.examples_per_step


def main() -> int:
    """Measure and print; the exit status is 1 if many steps per call are slower than one."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="few rounds, to try the benchmark")
    rounds = QUICK_ROUNDS if options.parse_args().quick else ROUNDS
    devices = detect()
    comparisons = []
    with tempfile.TemporaryDirectory() as folder:
        for loop, steps in STEPS_PER_EPOCH.items():
            many = replace(MLP, loop=loop, steps_per_epoch=steps)
            one = replace(many, steps_per_call=1)
            rates = []
            for number in range(rounds):
                sides = [many, one] if number % 2 else [one, many]
                found = {side: steps_per_second(side, devices, folder) for side in sides}
                rates.append((found[many], found[one]))
            fast, slow = np.median(rates, axis=0)
            print_line(f"{loop}: {fast:.0f} steps/s with many steps per call, {slow:.0f} with one")
            ratios = np.array([first / second for first, second in rates])
            comparisons.append(Comparison(f"many steps per call, {loop}", ratios, at_least=1.0))
    return conclude(comparisons)


if __name__ == "__main__":
    sys.exit(main())
