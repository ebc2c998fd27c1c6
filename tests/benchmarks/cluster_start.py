"""The extra time of a launcher until the first records, compared with its engine: Slurm and Ray.

`python -m tests.benchmarks.cluster_start [--quick] [--only slurm ray]`. In each round the engine
starts two processes with its own commands, and then a run whose trainer trains nothing, on the same
cluster of two nodes on this machine. The time of the engine ends when both processes have begun.
The time of the launcher begins with the check of the engine and ends when both tasks have recorded
a step.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks.report import Limit, print_line
from tests.launchers.cluster import slurm_cluster
from tests.launchers.ray_cluster import ray_cluster
from tests.runs.run_folders import Runs
from tests.waiting import LIMIT_SECONDS, until
from workbench.config import RunConfig
from workbench.launchers import ENGINES

BEYOND = "launcher {}: extra time until the first records, compared with the engine"
EXTRA_SECONDS = 3.0
TASKS = ("worker-0", "worker-1")
RAY = """
import sys, time, ray
ray.init(address=sys.argv[1], log_to_driver=False)
from ray.train import RunConfig, ScalingConfig
from ray.train.tensorflow import TensorflowTrainer

def begin(config):
    import os
    open(f"{config['to']}/{os.getpid()}", "w").close()

TensorflowTrainer(begin, train_loop_config={"to": sys.argv[2]},
                  scaling_config=ScalingConfig(num_workers=2),
                  run_config=RunConfig(storage_path=sys.argv[2] + "-results")).fit()
"""


def timed(begin: Callable[[Path], Callable[[], object]], to: Path, pattern: str) -> float:
    """Return the seconds until both tasks have left a file; the function from `begin` ends them."""
    to.mkdir()
    began = time.monotonic()
    end = begin(to)
    until(lambda: len(list(to.glob(pattern))) >= len(TASKS))
    seconds = time.monotonic() - began
    end()
    return seconds


def run_on(config: RunConfig) -> Callable[[Path], Callable[[], object]]:
    """Return a function that starts a run of the obedient trainer and then waits for its end."""

    def begin(to: Path) -> Callable[[], object]:
        asked = {"launcher": config.launcher, "ray_address": config.ray_address}
        run = Runs(to).start(tasks=TASKS, **asked)
        return lambda: run.wait(LIMIT_SECONDS)

    return begin


def check_seconds(config: RunConfig) -> float:
    """Return the seconds of the check that precedes each run.

    Raises:
        RuntimeError: the engine cannot start the tasks.
    """
    began = time.monotonic()
    if problems := ENGINES[config.launcher].problems(config, TASKS):
        raise RuntimeError("; ".join(map(str, problems)))
    return time.monotonic() - began


def by_slurm(to: Path) -> Callable[[], object]:
    """Start two processes with Slurm itself."""
    script = f"#!/bin/sh\nsrun sh -c 'touch {to}/$SLURM_PROCID'\n"
    command = ["sbatch", "--parsable", "--ntasks=2", f"--chdir={to}"]
    subprocess.run(command, input=script, text=True, check=True, stdout=subprocess.DEVNULL)
    return lambda: time.sleep(2)  # until the nodes are free again


def by_ray(address: str) -> Callable[[Path], Callable[[], object]]:
    """Start two processes with Ray Train itself."""

    def begin(to: Path) -> Callable[[], object]:
        command = [sys.executable, "-c", RAY, address, str(to)]
        return subprocess.Popen(command, stderr=subprocess.DEVNULL).wait

    return begin


def measure(
    config: RunConfig,
    engines: Callable[[Path], Callable[[], object]],
    folder: Path,
    rounds: int,
) -> bool:
    """Print the extra time of the launcher; return whether it is within the limit."""
    name, alone, checks, runs = config.launcher, [], [], []
    for at in range(rounds):
        alone.append(timed(engines, folder / f"{name}-{at}-alone", "[0-9]*"))
        checks.append(check_seconds(config))
        runs.append(timed(run_on(config), folder / f"{name}-{at}-run", "*/worker-*/steps.f4"))
    times = {"the engine": alone, "the check": checks, "from the start to the records": runs}
    parts = (f"{part} {statistics.median(seconds):.2f} s" for part, seconds in times.items())
    print_line(f"launcher {name}: {', '.join(parts)}; load {os.getloadavg()[0]:.1f}")
    later = [check + run - own for own, check, run in zip(alone, checks, runs, strict=True)]
    return Limit(BEYOND.format(name), "s", at_most=EXTRA_SECONDS).judge(later)


def main() -> int:
    """Measure and print; the exit status is 1 if the limit is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="one round, to try the benchmark")
    options.add_argument("--only", nargs="+", choices=("slurm", "ray"), default=("slurm", "ray"))
    chosen = options.parse_args()
    reached = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        os.environ["WORKBENCH_STATE"] = f"{folder}/state"
        if "slurm" in chosen.only:
            with slurm_cluster(root / "slurm") as conf:
                os.environ["SLURM_CONF"] = str(conf)
                config, rounds = RunConfig(launcher="slurm"), 1 if chosen.quick else 5
                reached.append(measure(config, by_slurm, root, rounds))
        if "ray" in chosen.only:
            with ray_cluster() as (address, token):
                os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token)}
                config = RunConfig(launcher="ray", ray_address=address)
                rounds = 1 if chosen.quick else 3
                reached.append(measure(config, by_ray(address), root, rounds))
    return int(not all(reached))


if __name__ == "__main__":
    sys.exit(main())
