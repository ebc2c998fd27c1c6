"""A run in the workbench, without a browser, against its script alone.

`python -m tests.benchmarks.run_overhead [--quick]` trains the Fashion-MNIST CNN, Mirrored on two
virtual CPU replicas, in turn as a run (supervisor, observer, records) and by `python train.py`. It
compares the wall time from the end of the first epoch to the end of the last, including test passes
and checkpoints, and the seconds until the first epoch ends.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.benchmarks.engine import cnn
from tests.benchmarks.report import Comparison, conclude, print_line
from workbench import make_plan, render_script, start_run
from workbench.config import RunConfig
from workbench.devices import Devices, detect

EPOCHS = 4
STEPS_PER_EPOCH = 500
ROUNDS = 9
QUICK_ROUNDS = 2


@dataclass(frozen=True)
class Times:
    """The seconds of a training from its start to the end of an epoch, and of all later epochs."""

    first_epoch: float
    epochs: float


def run_times(config: RunConfig, devices: Devices, folder: Path) -> Times:
    """Train as a run of the workbench."""
    began = time.time()
    run = start_run(config, runs_dir=folder, devices=devices)
    status = run.wait()
    if status != "finished":
        raise RuntimeError(f"The run must finish; it {status}: {run.failure}")
    ends = [event["time"] for event in run.events() if event["event"] == "epoch"]
    return Times(ends[0] - began, ends[-1] - ends[0])


def script_times(script: Path) -> Times:
    """Train with the script alone; the times of its printed lines are taken."""
    began = time.time()
    ends = []
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryFile() as log,
        subprocess.Popen(
            [sys.executable, "-u", str(script), "--run-dir", folder],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        ) as child,
    ):
        assert child.stdout is not None
        for line in child.stdout:
            if line.startswith("epoch "):
                ends.append(time.time())
    if child.returncode != 0:
        raise RuntimeError(f"The script must end with status 0; it ended with {child.returncode}.")
    return Times(ends[0] - began, ends[-1] - ends[0])


def main() -> int:
    """Measure and print; the exit status is 1 if the run is too slow."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="few rounds, to try the benchmark")
    rounds = QUICK_ROUNDS if options.parse_args().quick else ROUNDS
    devices = detect()
    config = cnn(epochs=EPOCHS, steps_per_epoch=STEPS_PER_EPOCH)
    runs, scripts = list[Times](), list[Times]()
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        script = folder / "train.py"
        script.write_text(render_script(make_plan(config, devices)))
        for number in range(rounds):
            sides = [
                lambda: runs.append(run_times(config, devices, folder / "runs")),
                lambda: scripts.append(script_times(script)),
            ]
            for side in sides if number % 2 else sides[::-1]:
                side()
    for name, times in {"run": runs, "script": scripts}.items():
        start, epochs = np.median([[each.first_epoch, each.epochs] for each in times], axis=0)
        rate = (EPOCHS - 1) * STEPS_PER_EPOCH / epochs
        print_line(
            f"{name}: {start:.1f} s until an epoch ends, then {rate:.1f} steps/s, all included"
        )
    ratios = [alone.epochs / run.epochs for run, alone in zip(runs, scripts, strict=True)]
    return conclude(
        [Comparison("speed of a run over its script alone", np.array(ratios), at_least=0.98)]
    )


if __name__ == "__main__":
    sys.exit(main())
