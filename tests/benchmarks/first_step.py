"""The time from the click to the end of the first step, against the public tutorial.

`python -m tests.benchmarks.first_step [--quick]` starts the Fashion-MNIST CNN, Mirrored on two
virtual CPU replicas, in turn in two ways: as a run of the workbench in each loop, with TensorFlow
already loaded, and as `python` on the tutorial, which makes one iterator and takes one step. It
also prints the parts of the run's time.
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

import numpy as np

from tests.benchmarks.engine import cnn
from tests.benchmarks.report import Comparison, conclude, print_line
from workbench import start_run
from workbench.config import RunConfig
from workbench.devices import Devices, detect
from workbench.runs import Run
from workbench.runs.folder.files import TASK
from workbench.runs.processes.environment import Launch
from workbench.runs.processes.forks import fork_server
from workbench.runs.records.reader import step_files
from workbench.runs.records.step_files import counted_calls

LOOPS = ("custom", "fit")
ROUNDS = 9
QUICK_ROUNDS = 2
PATIENCE_SECONDS = 120.0
POLL_SECONDS = 0.02
AT_LEAST = 8.0


def workbench_seconds(config: RunConfig, devices: Devices, folder: Path) -> dict[str, float]:
    """Start a run with TensorFlow already loaded, and end it after its first step.

    Returns the seconds of the parts between the click and the end of that step, in order.
    """
    clicked = time.time()
    run = start_run(config, runs_dir=folder, devices=devices)
    try:
        wait_until(lambda: len(calls_of(run)))
        _, _, start, seconds = calls_of(run)[0]
        entries = {entry.name: entry.seconds for entry in run.ledger.first_step}
        queued = next(event["time"] for event in run.events() if event.get("state") == "queued")
    finally:
        run.stop()
        run.wait()
    parts = {"until the queue": queued - clicked, **entries}
    return {**parts, "all else": start + seconds - clicked - sum(parts.values())}


def calls_of(run: Run) -> np.ndarray:
    """Return the recorded calls of the run."""
    return counted_calls(step_files(run.dir / TASK, run.plan.local_replicas).log())[0]


def tutorial_seconds() -> float:
    """Return the seconds from the start of the tutorial's process to the end of its first step."""
    command = [sys.executable, "-m", "tests.benchmarks.tutorial", "cnn", "--first-step"]
    began = time.time()
    with tempfile.TemporaryFile() as log:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=log, text=True, check=True)
    return float(done.stdout) - began


def wait_until(condition: Callable[[], object]) -> None:
    """Wait until a condition is true.

    Raises:
        TimeoutError: the condition is false for two minutes.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"The first step must end in {PATIENCE_SECONDS:g} s; it did not.")
        time.sleep(POLL_SECONDS)


def main() -> int:
    """Measure and print; the exit status is 1 if the first step is too late."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="few rounds, to try the benchmark")
    rounds = QUICK_ROUNDS if options.parse_args().quick else ROUNDS
    devices = detect()
    ours: dict[str, list[dict[str, float]]] = {loop: [] for loop in LOOPS}
    tutorial: list[float] = []
    with tempfile.TemporaryDirectory() as root:
        os.environ["WORKBENCH_STATE"] = f"{root}/state"
        # Bytecode of TensorFlow is written here, so that its compilation does not count for a side.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = f"{root}/modules"
        tutorial_seconds()
        server = fork_server(Launch(sys.executable, Path.cwd()))
        server.start()
        wait_until(lambda: server.state == "ready")
        for number in range(rounds):
            sides = [lambda: tutorial.append(tutorial_seconds())]
            for loop in LOOPS:
                config = cnn(loop=loop, epochs=1)
                sides.append(
                    lambda loop=loop, config=config: ours[loop].append(
                        workbench_seconds(config, devices, Path(root))
                    )
                )
            for side in sides if number % 2 else sides[::-1]:
                server.keep()
                side()
        server.release()
    print_line(f"tutorial: {np.median(tutorial):.2f} s from its start to its first step")
    return conclude([compared(loop, rounds, tutorial) for loop, rounds in ours.items()])


def compared(loop: str, rounds: list[dict[str, float]], tutorial: list[float]) -> Comparison:
    """Print the parts of a loop's time; return the ratio of the tutorial's time to it."""
    totals = np.array([sum(parts.values()) for parts in rounds])
    medians = [f"{name} {np.median([parts[name] for parts in rounds]):.2f}" for name in rounds[0]]
    print_line(f"{loop}: {np.median(totals):.2f} s from the click: {', '.join(medians)}")
    name = f"seconds to the first step, tutorial over click, {loop}"
    return Comparison(name, np.array(tutorial) / totals, at_least=AT_LEAST)


if __name__ == "__main__":
    sys.exit(main())
