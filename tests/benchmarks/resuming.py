"""Runs killed at random steps and resumed, against the same runs without kills.

`python -m tests.benchmarks.resuming [--quick]` trains the MLP with each kind of synchronous
strategy, in one process and in several, in both loops. SIGKILL ends a training task at a random
step of an attempt, and the run is resumed. After two kills the run finishes. The losses of all
steps and the final weights are compared.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from dataclasses import replace

import psutil

from tests.benchmarks.report import Limit, print_line
from tests.waiting import until
from workbench import start_run
from workbench.config import RunConfig
from workbench.devices import Devices, detect
from workbench.experiments.agreement import certify
from workbench.runs import Run

STRATEGIES = ("mirrored", "central_storage", "multi_worker_mirrored")
QUICK_STRATEGIES = ("mirrored",)
LOOPS = ("custom", "fit")
KILLS, EPOCHS, STEPS_PER_EPOCH = 2, 4, 2_000
MLP = RunConfig(
    pipeline="indexed", global_batch_size=64, epochs=EPOCHS, steps_per_epoch=STEPS_PER_EPOCH,
    start_now=True,
)  # fmt: skip
LOSS = Limit(
    "largest difference of a step's loss, with and without kills", "", at_most=1e-6, always=True
)
WEIGHTS = Limit("largest difference of a final weight", "", at_most=1e-6, always=True)


def trained(config: RunConfig, devices: Devices, folder: str) -> Run:
    """Train to the end.

    Raises:
        RuntimeError: the run does not finish.
    """
    return ended(start_run(config, folder, devices))


def ended(run: Run) -> Run:
    """Wait for the end of a run."""
    if run.wait() != "finished":
        raise RuntimeError(f"The run must finish; it {run.status}: {run.failure}")
    return run


def kill_from(run: Run, step: int) -> int:
    """Kill a training process as soon as a step is reached; return the last completed step."""
    until(lambda: run.progress.step >= step or not run.alive)
    script = str(run.dir / "train.py")
    every = psutil.process_iter(["cmdline"])
    trainers = [process for process in every if script in (process.info["cmdline"] or ())]
    trainers[-1].kill()
    run.wait()
    return run.progress.step


def killed(config: RunConfig, devices: Devices, folder: str, chance: random.Random) -> Run:
    """Train a run, kill it at random steps and resume it."""
    run, first, total = start_run(config, folder, devices), 0, EPOCHS * STEPS_PER_EPOCH
    for left in range(KILLS, 0, -1):
        done = kill_from(run, chance.randrange(first + 1, first + (total - first) // (left + 1)))
        print_line(f"  killed at step {done:,} of {total:,}: {run.status}")
        first = done
        run = run.resume()
    return ended(run)


def main() -> int:
    """Measure and print; the exit status is 1 if a limit is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="one strategy, to try the benchmark")
    strategies = QUICK_STRATEGIES if options.parse_args().quick else STRATEGIES
    devices, chance, losses, weights = detect(), random.Random(), [], []
    with tempfile.TemporaryDirectory() as folder:
        for strategy in strategies:
            for loop in LOOPS:
                print_line(f"{strategy}, {loop}")
                config = replace(MLP, strategy=strategy, loop=loop)
                whole = trained(config, devices, folder)
                other = killed(config, devices, folder, chance)
                found = certify(whole, [other])[str(other.dir)].agreement
                if found.max_loss_difference is None or found.max_weight_difference is None:
                    raise RuntimeError(f"Both runs must have saved their model; {found.reason}")
                losses.append(found.max_loss_difference)
                weights.append(found.max_weight_difference)
                print_line(f"  losses differ by {losses[-1]:.1e}, weights by {weights[-1]:.1e}")
    return int(not all([LOSS.judge([max(losses)]), WEIGHTS.judge([max(weights)])]))


if __name__ == "__main__":
    sys.exit(main())
