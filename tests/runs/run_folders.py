"""Folders of runs with a small real trainer, and functions that read them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil

from tests.machines import LAPTOP, TWO_GPUS
from tests.waiting import LIMIT_SECONDS, until
from workbench.config import RunConfig
from workbench.fields import OF_LAUNCHERS
from workbench.plan import make_plan
from workbench.runs import Run, start_run, start_script
from workbench.runs.folder import locks
from workbench.runs.folder.files import json_text, make_folder, new_id, sha256
from workbench.runs.processes.bounds import Bounds

OBEDIENT = (Path(__file__).parent / "obedient.py").read_text()
OF_CONFIG = (
    *OF_LAUNCHERS,
    "launcher",
    "rendezvous_seconds",
    "start_now",
    "start",
    "archive",
    "data_dir",
)
"""The options of a run that are fields of its config."""
PLANTED = "planted-7d1f0c"
CREDENTIALS = dict.fromkeys(("WANDB_API_KEY", "HF_TOKEN", "DATABASE_PASSWORD"), PLANTED)
"""Variables of the environment whose value no file of a run may hold."""
QUICK = Bounds(poll_seconds=0.02, stop_grace_seconds=LIMIT_SECONDS, kill_grace_seconds=0.2)


FEW_STEPS = {
    "workers": 2,
    "epochs": 1,
    "steps_per_epoch": 8,
    "steps_per_call": 2,
    "per_replica_batch_size": 8,
    "rendezvous_seconds": int(LIMIT_SECONDS),
}
"""A config that trains the MLP with TensorFlow for a few steps on two workers."""
ON_TWO_REPLICAS = make_plan(RunConfig(global_batch_size=16), TWO_GPUS)
"""The plan of two replicas that share no device."""


def replan(run: Run, **fields: Any) -> Run:
    """Write the plan of a run with other fields."""
    plan = replace(run.plan, **fields)
    (run.dir / "plan.json").write_text(json_text(plan.to_json()))
    return run


class Runs:
    """A folder of runs of the obedient trainer."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.made: list[Run] = []

    def make(self, script: str = OBEDIENT, **options: Any) -> Run:
        """Write a run; `options` are the trainer's options, in `own` for one task alone.

        Some options go to the plan or the config, such as `tasks` and `rendezvous_seconds`.
        """
        tasks = tuple(options.get("tasks", ("worker-0",)))
        steps, per_epoch = options.get("steps", 60), options.get("steps_per_epoch", 30)
        script = script.replace("OPTIONS: dict = {}", f"OPTIONS = {options!r}")
        config = RunConfig(
            epochs=steps // per_epoch,
            interpreter=options.get("python"),
            **{"start": "cold", **{name: options[name] for name in OF_CONFIG if name in options}},
        )
        plan = replace(
            ON_TWO_REPLICAS,
            config=config,
            num_replicas_in_sync=2 * sum(task.startswith("worker") for task in tasks),
            steps_per_epoch=per_epoch,
            epochs=steps // per_epoch,
            total_steps=steps,
            tasks=tasks,
            keras=options.get("keras", "installed"),
            physical_devices=tuple(options.get("devices", ["CPU:0"])),
        )
        run_id = new_id(self.root)
        card = {
            "version": 1,
            "id": run_id,
            "name": "",
            "created": time.time() + len(self.made),
            "script_sha256": sha256(script),
            "interpreter": options.get("interpreter", sys.executable),
            "state_dir": str(locks.state_dir()),
            "working_dir": options.get("working_dir"),
        }
        texts = {
            "config.json": json_text(config.to_json()),
            "plan.json": json_text(plan.to_json()),
            "run.json": json_text(card),
            "train.py": script,
        }
        run = Run(make_folder(self.root, run_id, texts))
        self.made.append(run)
        return run

    def start(self, bounds: Bounds = QUICK, **options: Any) -> Run:
        """Write a run and start it."""
        return start_script(self.make(**options).dir, bounds)

    def train(self, **fields: Any) -> Run:
        """Train a few steps with TensorFlow itself, to the end; `fields` are fields of the config.

        Raises:
            AssertionError: the run did not finish.
        """
        self.root.mkdir(exist_ok=True)
        run = start_run(RunConfig(**{**FEW_STEPS, **fields}), self.root, LAPTOP)
        self.made.append(run)
        assert run.wait(LIMIT_SECONDS) == "finished", run.failure
        return run

    def end_all(self) -> None:
        for run in self.made:
            for number in processes_of(run):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)


def event_of(run: Run, name: str) -> dict[str, Any] | None:
    """Return the newest event of this name or state; None before there is one."""
    found = [event for event in run.events() if name in (event["event"], event.get("state"))]
    return found[-1] if found else None


def pid_of(run: Run, who: str) -> int:
    """Wait for the run's `supervisor` or `trainer` and return its process id."""
    field = "supervisor_pid" if who == "supervisor" else "pid"

    def pids() -> list[int]:
        return [event[field] for event in run.events() if field in event]

    return int(until(pids)[-1])


def pid_of_task(run: Run, task: str) -> int:
    """Wait until a task has reported its process id, and return the newest."""

    def pids() -> list[int]:
        events = run.events()
        return [event["pid"] for event in events if event["task"] == task and "pid" in event]

    return int(until(pids)[-1])


def processes_of(run: Run) -> list[int]:
    """Return the ids of the living processes that run this run's script or hold a file of it."""
    return [
        process.pid
        for process in psutil.process_iter(["cmdline", "status"])
        if process.info["status"] != psutil.STATUS_ZOMBIE
        and any(str(run.dir) in word for word in process.info["cmdline"] or ())
    ]


def files_with(run: Run, text: str) -> list[Path]:
    """Return the files of a run that hold a text."""
    files = [path for path in run.dir.rglob("*") if path.is_file()]
    assert len(files) > 10
    return [path for path in files if text.encode() in path.read_bytes()]


def states(run: Run) -> list[str]:
    """Return the states that the supervisor wrote, in order."""
    text = (run.dir / "events.jsonl").read_text()
    events = [json.loads(line) for line in text.splitlines()]
    return [event["state"] for event in events if event["event"] == "state"]


def over(run: Run) -> str:
    """Wait for a run's end and return its state."""
    until(lambda: run.status in ("finished", "stopped", "failed"))
    return run.status


def losses_of(run: Run) -> dict[int, list[float]]:
    """Return the recorded losses of each worker's first replica."""
    rows = run.replica_steps()
    return {worker: part["loss"].tolist() for worker, part in rows.groupby("worker")}


def starts_of(run: Run, task: str) -> list[int]:
    """Return the step at which each attempt of a task started."""
    events = [event for event in run.events() if event["event"] == "start"]
    return [event["step"] for event in events if event["task"] == task]


def write_checkpoint(run_dir: Path, number: int) -> None:
    """Write the files of a checkpoint like TensorFlow, and make it the newest."""
    folder = run_dir / "checkpoints"
    folder.mkdir(exist_ok=True)
    (folder / f"ckpt-{number}.data-00000-of-00001").write_text("weights")
    (folder / f"ckpt-{number}.index").write_text("index")
    (folder / "checkpoint").write_text(f'model_checkpoint_path: "ckpt-{number}"\n')
