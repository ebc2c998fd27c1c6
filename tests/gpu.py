"""What a GPU does with the lesson scripts and with the observer around them.

`python -m tests.gpu [--out FILE]` takes under eight minutes on one GPU and needs no network. If
there is no GPU, it runs on the CPU and says so. It trains the lessons MLP and CNN, custom loop and
`fit`, on the whole device and on the device split in two: each script under the observer and once
more alone, with equal weights. Then follow precisions, XLA and ways to sum gradients, a stop and a
resume, the cost of recording, and the speed beside the tutorial's loop and without input.

The CNN trains on random images of the shape of Fashion-MNIST. All figures go to FILE, with card,
versions and date. The exit status is 1 if a run failed, or if numbers differ that must be equal.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import gzip
import itertools
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.report import Comparison, print_line
from tests.engine.training import weights_in
from workbench import RunConfig, start_run
from workbench.devices import detect
from workbench.plan import PlanError
from workbench.runs import Run
from workbench.runs.processes.environment import Launch

IMAGES = {"train": 60_000, "t10k": 10_000}
EXAMPLES, CNN_STEPS = 10_000, 50
LOG_CHARACTERS = 2_000
ROUNDS, BLOCK_SECONDS, TRIAL_STEPS = 15, 0.3, 20
CLOSE = 1e-5
"""The largest difference of losses that may come from another order of sums, in the MLP."""
NEEDS_GPUS = {"mixed_float16": 1, "NCCL": 2}
VARIANTS: dict[str, dict[str, Any]] = {
    "mixed_bfloat16": {"precision": "mixed_bfloat16"},
    "mixed_float16": {"precision": "mixed_float16"},
    "XLA": {"xla": True},
    "NCCL": {"cross_device_ops": "nccl"},
    "HierarchicalCopy": {"cross_device_ops": "hierarchical_copy"},
    "ReductionToOneDevice": {"cross_device_ops": "reduction_to_one_device"},
}


def write_images(folder: Path) -> None:
    """Write random images and labels as the four files of Fashion-MNIST."""
    random = np.random.default_rng(42)
    for part, count in IMAGES.items():
        images = random.integers(0, 256, (count, 28, 28), np.uint8)
        labels = random.integers(0, 10, count, np.uint8)
        for name, values in (("images-idx3", images), ("labels-idx1", labels)):
            header = np.array([0x800 + values.ndim, *values.shape], ">i4").tobytes()
            content = gzip.compress(header + values.tobytes(), 0)
            (folder / f"{part}-{name}-ubyte.gz").write_bytes(content)


@dataclasses.dataclass
class Report:
    """The figures so far; each is also printed."""

    figures: dict[str, Any]
    failed: bool = False

    def add(self, name: str, figure: Any, *, good: bool = True) -> None:
        """Print and keep a figure; one that is not `good` fails the command."""
        self.figures[name] = figure
        self.failed |= not good
        print_line(f"{name}: {figure}{'' if good else '  FAILED'}")

    @contextlib.contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Go on after this block if something in it failed, and report why."""
        try:
            yield
        except (NotFinishedError, PlanError) as error:
            self.add(name, str(error), good=False)


class NotFinishedError(Exception):
    """A run or a script that did not reach its end."""


class Device:
    """The first GPU, or the CPU without one, and the configs of lessons on it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.found = folder, detect()
        self.gpus = self.found.gpus
        self.name = self.gpus[0].name if self.gpus else "CPU:0"
        self.model = self.gpus[0].model if self.gpus else "no GPU: this is the CPU"

    def config(self, model: str, *, split: bool, **fields: Any) -> RunConfig:
        """Return a lesson on the whole device, or on the device split in two."""
        lesson: dict[str, Any] = {"model": model, "epochs": 2, "deterministic": True}
        lesson |= {"per_replica_batch_size": 64, "devices": (self.name,)}
        if model == "cnn":
            lesson |= {"data": "fashion_mnist", "data_dir": str(self.folder)}
            lesson |= {"steps_per_epoch": CNN_STEPS}
        else:
            lesson |= {"data": "synthetic", "synthetic_examples": EXAMPLES}
        shape = {"strategy": "mirrored", "replicas": 2} if split else {"strategy": "one_device"}
        return RunConfig(**lesson | shape | fields)

    def train(self, config: RunConfig) -> Run:
        """Train under the observer.

        Raises:
            NotFinishedError: the run did not finish.
            PlanError: the config cannot be planned.
        """
        return finished(self.start(config))

    def start(self, config: RunConfig) -> Run:
        """Start to train under the observer."""
        return start_run(config, runs_dir=self.folder / "runs", devices=self.found)


def finished(run: Run) -> Run:
    """Return a run once it has finished.

    Raises:
        NotFinishedError: it ended in another way.
    """
    if run.wait() != "finished":
        raise NotFinishedError(
            f"{run.status}: {run.failure.cause if run.failure else 'cause unknown'}"
        )
    return run


def train_alone(run: Run, folder: Path) -> None:
    """Run the script of a run with Python alone, as many threads as the run had.

    Raises:
        NotFinishedError: the script failed.
    """
    command = [sys.executable, str(run.dir / "train.py"), "--run-dir", str(folder)]
    split_cpu = run.config.replicas if run.config.devices == ("CPU:0",) else None
    environment = Launch(sys.executable, run.dir, cpu_replicas=split_cpu or 1).environment()
    done = subprocess.run(
        command, env=environment, cwd=run.dir, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise NotFinishedError(done.stderr[-LOG_CHARACTERS:])


def difference(one: Run, other: Run) -> float:
    """Return the largest difference of losses of two runs, of all steps of all replicas.

    Raises:
        NotFinishedError: a step of one is not recorded in the other.
    """
    both = one.replica_steps().merge(other.replica_steps(), on=["step", "replica"], how="outer")
    apart = (both["loss_x"] - both["loss_y"]).abs()
    if apart.isna().any():
        raise NotFinishedError(
            f"{apart.isna().sum()} steps of replicas are recorded in one run only"
        )
    return float(apart.max())


def train_lessons(device: Device, report: Report) -> None:
    """Train each lesson under the observer and alone; compare these, and the two loops."""
    for model, split in itertools.product(("mlp", "cnn"), (False, True)):
        where = f"{model}, {'split in two' if split else 'whole'}"
        runs = []
        for loop in ("custom", "fit"):
            with report.part(f"{where}, {loop}"):
                run = device.train(device.config(model, split=split, loop=loop))
                runs.append(run)
                missing = sum(last - first + 1 for first, last in run.missing)
                report.add(f"{where}, {loop}: steps not recorded", missing, good=missing == 0)
                alone = device.folder / "alone" / run.dir.name
                train_alone(run, alone)
                one, other = (weights_in(each / "model.keras") for each in (run.dir, alone))
                equal = np.array_equal(one, other)
                report.add(f"{where}, {loop}: the same weights alone", equal, good=equal)
        name = f"{where}: largest difference of losses, custom and fit"
        with report.part(name):
            if len(runs) == 2:
                apart = difference(*runs)
                # In the CNN, differences of rounding grow.
                report.add(name, apart, good=model == "cnn" or apart <= CLOSE)


def train_variants(device: Device, report: Report) -> None:
    """Train the CNN on the split device with other precisions, with XLA, and with other sums."""
    for name, fields in VARIANTS.items():
        config = device.config("cnn", split=True, deterministic=False, **fields)
        if name in NEEDS_GPUS and len(device.gpus) < NEEDS_GPUS[name]:
            needed = "a GPU" if NEEDS_GPUS[name] == 1 else f"{NEEDS_GPUS[name]} GPUs"
            report.add(name, f"not tried: it needs {needed}")
            continue
        with report.part(name):
            if name in NEEDS_GPUS:
                names = tuple(gpu.name for gpu in device.gpus[: NEEDS_GPUS[name]])
                config = dataclasses.replace(config, devices=names, replicas=None)
            run = device.train(config)
            report.add(name, f"loss {run.epochs()['loss'].iloc[-1]:.4f}")


def stop_and_resume(device: Device, report: Report) -> None:
    """Stop a run in the middle, resume it, and compare it with one that was not stopped."""
    with report.part("stopped and resumed"):
        # Long enough to be stopped in the middle.
        config = device.config("cnn", split=True, epochs=40 if device.gpus else 8)
        whole, run = device.train(config), device.start(config)
        while run.alive and run.progress.step < 3 * CNN_STEPS:
            time.sleep(0.05)
        run.stop()
        if run.wait() != "stopped":
            raise NotFinishedError(f"the run was over before it could be stopped: {run.status}")
        step = run.progress.step
        apart = difference(whole, finished(run.resume()))
        name = f"stopped at step {step} and resumed: largest difference of losses"
        report.add(name, apart, good=apart == 0.0)


def measure_speed(model: str, folder: Path) -> None:
    """Print the medians of a lesson's rates, and ratios with their intervals, as JSON."""
    from tensorflow import test

    from tests.benchmarks.alternation import Segment, alternate
    from tests.benchmarks.engine import Engine, Train, rate_of
    from tests.benchmarks.tutorial import Tutorial, cnn_job, mlp_job
    from workbench.engine.programs.step_times.bench import InMemory

    config = Device(folder).config(model, split=False, deterministic=False)
    engine = Engine(config, folder / f"speed-{model}")
    job = cnn_job(folder) if model == "cnn" else mlp_job(EXAMPLES)
    watched: dict[str, Train] = {"recorded": engine.observed, "recorded again": engine.make()}
    with engine.unwatched():
        tutorial = Tutorial(
            engine.strategy,
            dataclasses.replace(job, per_replica_batch_size=config.per_replica_batch_size or 1),
        )
        alone: dict[str, Train] = {
            "alone": engine.alone,
            "alone again": engine.make(),
            "tutorial": tutorial.train_steps,
            "without input": engine.loop(InMemory(next(iter(engine.batches)))),
        }

    def segment(train: Train, wraps: Callable[[], Any]) -> Segment:
        """Return blocks of about `BLOCK_SECONDS`, timed until the device has done all."""

        def synced(steps: int) -> None:
            train(steps)
            test.experimental.sync_devices()

        def block() -> float:
            with wraps():
                return rate_of(synced, steps)

        with wraps():
            synced(1)
            steps = max(1, round(BLOCK_SECONDS * rate_of(synced, TRIAL_STEPS)))
        return block

    sides = {name: segment(train, contextlib.nullcontext) for name, train in watched.items()}
    sides |= {name: segment(train, engine.unwatched) for name, train in alone.items()}
    done = alternate(sides, ROUNDS, warm_up_rounds=2)
    found = done.rates
    pairs = found["recorded"] / found["alone"], found["recorded again"] / found["alone again"]
    ratios = {
        "recorded over alone": np.sqrt(pairs[0] * pairs[1]),
        "recorded over the tutorial's steps": found["recorded"] / found["tutorial"],
        "recorded over without input": found["recorded"] / found["without input"],
    }
    figures: dict[str, Any] = {
        f"{model}: {name}": f"{np.median(rate):.0f} steps/s" for name, rate in found.items()
    }
    for name, ratio in ratios.items():
        figures[f"{model}: {name}"] = str(Comparison(name, ratio)).partition(": ")[2]
    print_line(json.dumps(figures))
    sys.stdout.flush()
    os._exit(0)  # TensorFlow can take minutes to close pipelines


def add_speed(device: Device, report: Report) -> None:
    """Measure the speed of both lessons, each in a process of its own."""
    for model in ("mlp", "cnn"):
        command = [sys.executable, "-m", "tests.gpu", "--speed", model, str(device.folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            report.add(f"{model}: speed", done.stderr[-LOG_CHARACTERS:], good=False)
            continue
        for name, figure in json.loads(done.stdout.splitlines()[-1]).items():
            report.add(name, figure)


def main() -> int:
    """Measure and print; the exit status is 1 if something failed."""
    options = argparse.ArgumentParser(prog="python -m tests.gpu", description=__doc__)
    options.add_argument("--out", type=Path, default=Path("gpu.json"), help="default: gpu.json")
    options.add_argument("--speed", nargs=2, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.speed:
        measure_speed(chosen.speed[0], Path(chosen.speed[1]))
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        device, report = Device(Path(name)), Report({})
        write_images(device.folder)
        report.add("device", device.model)
        report.add("date", date.today().isoformat())
        report.add("tensorflow", f"{version('tensorflow')}, keras {version('keras')}")
        report.add("machine", f"{platform.machine()}, {os.cpu_count()} cores")
        for part in (train_lessons, train_variants, stop_and_resume, add_speed):
            part(device, report)
            report.add("seconds", round(time.perf_counter() - began))
            chosen.out.write_text(json.dumps(report.figures, indent=2) + "\n")
    return int(report.failed)


if __name__ == "__main__":
    sys.exit(main())
