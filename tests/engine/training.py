"""Write run folders without a start, and train them together in one process of TensorFlow."""

from __future__ import annotations

import io
import json
import sys
import time
import zipfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from tests.forked import run_code, run_program
from tests.machines import LAPTOP
from workbench.codegen import render_script
from workbench.config import RunConfig
from workbench.devices import Devices
from workbench.plan import Plan, make_plan
from workbench.runs import Run
from workbench.runs.folder.files import json_text, make_folder, sha256
from workbench.runs.programs.own_data import inspect_data

TOGETHER = Path(__file__).parent / "together.py"
COMPARE_CHECKPOINTS = Path(__file__).parent / "compare_checkpoints.py"
ENDLESS = 1_000_000
"""Epochs of a run that a test disturbs before its end; no machine finishes so many in time."""


@dataclass(frozen=True)
class Trained:
    """A run that trained with others, and its plan."""

    run: Run
    plan: Plan

    @property
    def legacy(self) -> bool:
        """Whether the script needs the tf-keras package."""
        return self.plan.keras == "legacy"

    @property
    def status(self) -> int:
        """The exit status that the script has alone."""
        return int(json.loads((self.run.dir / "status.json").read_text()))

    @property
    def traces(self) -> list[int]:
        """The trace counts of its graph functions, for training and for the test."""
        counts: list[int] = json.loads((self.run.dir / "traces.json").read_text())
        return counts

    @property
    def log(self) -> str:
        return (self.run.dir / "worker-0" / "log.txt").read_text()

    def losses(self) -> np.ndarray[Any, Any]:
        """Return the loss of every step over all replicas."""
        return self.run.steps()["loss"].to_numpy()

    def examples(self) -> list[list[int]]:
        """Return the count of examples of each replica in each step."""
        frame = self.run.replica_steps(["examples"])
        return frame["examples"].to_numpy().reshape(-1, self.plan.num_replicas_in_sync).tolist()

    def events(self, name: str) -> list[dict[str, Any]]:
        return [event for event in self.run.events() if event["event"] == name]


def weights(run: Run) -> np.ndarray[Any, Any]:
    """Return all weights of the saved model of a run as one flat array."""
    return weights_in(run.dir / "model.keras")


def weights_in(model: Path) -> np.ndarray[Any, Any]:
    """Return all weights of a saved model as one flat array."""
    found: list[np.ndarray[Any, Any]] = []

    def collect(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and not name.startswith("optimizer"):
            found.append(item[()].ravel())

    with zipfile.ZipFile(model) as archive:
        content = io.BytesIO(archive.read("model.weights.h5"))
    with h5py.File(content) as file:
        file.visititems(collect)
    return np.concatenate(found)


def compare_checkpoints(one: Run, other: Run) -> dict[str, Any]:
    """Compare weights and optimizers at the newest step for which both runs have a checkpoint."""
    done = run_program([COMPARE_CHECKPOINTS, one.dir, other.dir])
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def ask_model(run: Run, question: str) -> Any:
    """Return the value of a Python expression about the saved `model` of a run.

    It runs in its own process: the process of the tests does not import TensorFlow.
    """
    code = (
        "import json; from workbench import open_run; "
        f"model = open_run({str(run.dir)!r}).load_model(); print(json.dumps({question}))"
    )
    return json.loads(run_code(code).stdout.splitlines()[-1])


def write_run(root: Path, name: str, config: RunConfig, devices: Devices = LAPTOP) -> Trained:
    """Plan a config and write its run folder; start nothing."""
    plan = make_plan(config, devices, inspect_data(config))
    script = render_script(plan)
    card = {
        "version": 1,
        "id": name,
        "name": name,
        "created": time.time(),
        "script_sha256": sha256(script),
        "interpreter": sys.executable,
        "working_dir": str(root),
        "state_dir": str(root / "state"),
    }
    texts = {
        "config.json": json_text(config.to_json()),
        "devices.json": json_text(devices.to_json()),
        "plan.json": json_text(plan.to_json()),
        "run.json": json_text(card),
        "train.py": script,
    }
    return Trained(Run(make_folder(root, name, texts)), plan)


def train_together(
    root: Path,
    configs: Mapping[str, RunConfig],
    environment: Mapping[str, str] | None = None,
    stopped: Collection[str] = (),
    stopped_in_test: Collection[str] = (),
) -> dict[str, Trained]:
    """Train all runs, one after another; the first decides the number of CPU devices for all.

    Give the runs of most replicas first. The runs in `stopped` receive a request to stop in
    mid-epoch, those in `stopped_in_test` in the first test pass; then they resume.
    """
    written = {name: write_run(root, name, config) for name, config in configs.items()}
    stops = dict.fromkeys(stopped, "calls") | dict.fromkeys(stopped_in_test, "test")
    train_written(root, written, environment, stops)
    return written


def train_written(
    root: Path,
    written: Mapping[str, Trained],
    environment: Mapping[str, str] | None = None,
    stops: Mapping[str, str] | None = None,
) -> None:
    """Train in written run folders; `stops` gives by name the sign on which a run stops."""
    signs = stops or {}
    folders = [
        f"{each.run.dir}{end}"
        for name, each in written.items()
        for end in ([f":{signs[name]}", ""] if name in signs else [""])
    ]
    legacy = any(each.legacy for each in written.values())
    run_program([TOGETHER, *folders], root, environment, legacy=legacy)
