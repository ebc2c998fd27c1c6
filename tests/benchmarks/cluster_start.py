"""The extra time of a launcher to start tasks, compared with its engine: Slurm and Ray.

`python -m tests.benchmarks.cluster_start [--quick] [--only slurm ray]`. In each round the engine
starts two processes with its own commands, and then a run whose trainer trains nothing, on the same
cluster of two nodes on this machine.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks.report import Limit
from tests.launchers.cluster import slurm_cluster
from tests.launchers.ray_cluster import ray_cluster
from tests.runs.run_folders import Runs

BEYOND = "launcher {}: extra time to start tasks, compared with the engine"
LIMIT_SECONDS = 3.0
TASKS = ("worker-0", "worker-1")
PATIENCE_SECONDS = 120.0
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


def until(begun: Callable[[], int]) -> None:
    """Wait until both have started."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while begun() < len(TASKS):
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {PATIENCE_SECONDS:g} s")
        time.sleep(0.01)


def timed(begin: Callable[[Path], Callable[[], object]], to: Path, pattern: str) -> float:
    """Return the seconds until both tasks have left a file; the function from `begin` ends them."""
    to.mkdir()
    began = time.monotonic()
    end = begin(to)
    until(lambda: len(list(to.glob(pattern))))
    seconds = time.monotonic() - began
    end()
    return seconds


def run_on(**options: object) -> Callable[[Path], Callable[[], object]]:
    """Return a function that starts a run of the obedient trainer and then waits for its end."""

    def begin(to: Path) -> Callable[[], object]:
        run = Runs(to).start(tasks=TASKS, **options)
        return lambda: run.wait(PATIENCE_SECONDS)

    return begin


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


def measure(name: str, ours: object, engines: object, folder: Path, rounds: int) -> bool:
    """Print the extra time of the launcher; return whether it is within the limit."""
    later = []
    for at in range(rounds):
        alone = timed(engines, folder / f"{name}-{at}-alone", "[0-9]*")
        with_us = timed(ours, folder / f"{name}-{at}-run", "*/jobs/*/0/*.clock")
        later.append(with_us - alone)
    return Limit(BEYOND.format(name), "s", at_most=LIMIT_SECONDS).judge(later)


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
                ours, rounds = run_on(launcher="slurm"), 1 if chosen.quick else 5
                reached.append(measure("slurm", ours, by_slurm, root, rounds))
        if "ray" in chosen.only:
            with ray_cluster() as (address, token):
                os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token)}
                ours, rounds = run_on(launcher="ray", ray_address=address), 1 if chosen.quick else 3
                reached.append(measure("ray", ours, by_ray(address), root, rounds))
    return int(not all(reached))


if __name__ == "__main__":
    sys.exit(main())
