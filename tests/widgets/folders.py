"""Run folders written by hand, for views that only read them."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from tests.machines import LAPTOP
from tests.runs.run_folders import write_checkpoint
from workbench import RunConfig, make_plan, open_run, render_script
from workbench.runs import Run
from workbench.runs.folder.files import json_text, new_id, sha256
from workbench.runs.processes.own_modules import keep_files

CONFIG = RunConfig(per_replica_batch_size=64, epochs=2)
BATCH = 64


def write_model(folder: Path) -> None:
    """Write an empty file as the saved model of a finished run, older than all its other files."""
    _append(folder / "worker-0" / "events.jsonl", {"event": "finished"})
    (folder / "model.keras").touch()
    os.utime(folder / "model.keras", (0, 0))


def write_run(
    root: Path,
    state: str = "finished",
    steps: int = 156,
    name: str = "",
    config: RunConfig = CONFIG,
    **more: Any,
) -> Run:
    """Write the folder of a run of two virtual replicas that did `steps` of its 156 steps."""
    plan = make_plan(config, LAPTOP)
    script = render_script(plan)
    run_id = new_id(root)
    folder = root / run_id
    task = folder / "worker-0"
    task.mkdir(parents=True)
    card = {
        "version": 1,
        "id": run_id,
        "name": name,
        "created": time.time(),
        "script_sha256": sha256(script),
        "interpreter": plan.interpreter,
        "state_dir": str(root / ".state"),
    }
    (folder / "config.json").write_text(json_text(config.to_json()))
    (folder / "plan.json").write_text(json_text(plan.to_json()))
    (folder / "run.json").write_text(json_text(card))
    (folder / "train.py").write_text(script)
    keep_files(plan, folder)
    for earlier in ("queued", "starting"):
        _append(folder / "events.jsonl", {"event": "state", "state": earlier})
    _append(folder / "events.jsonl", {"event": "state", "state": state, **more})
    _append(task / "events.jsonl", {"event": "start", "step": 0, "epoch": 0})
    (task / "log.txt").write_text("first line\n<b>last line</b>\n")
    if steps:
        write_steps(task, 0, records(steps))
    for epoch in range(1, steps // 78 + 1):
        write_epoch(folder, epoch, epoch * 78)
    return open_run(folder)


def stopped_run(root: Path) -> Run:
    """A stopped run with a checkpoint of step 20."""
    run = write_run(root, "stopped", steps=20)
    event = {"time": 0.0, "event": "checkpoint", "step": 20, "checkpoint": "ckpt-1"}
    with (run.dir / "worker-0" / "events.jsonl").open("a") as file:
        file.write(json.dumps(event) + "\n")
    write_checkpoint(run.dir, 1)
    return run


def records(steps: int, loss: float = 1.0) -> np.ndarray:
    """Return records [steps, 2, 3]; replica 1 has twice the loss of replica 0; half is correct."""
    rows = np.zeros((steps, 2, 3), np.float32)
    rows[:, :, 2] = BATCH
    rows[:, :, 1] = BATCH / 2
    rows[:, 0, 0], rows[:, 1, 0] = BATCH * loss, 2 * BATCH * loss
    return rows


def write_steps(
    task: Path,
    first_step: int,
    rows: np.ndarray,
    *,
    begins: bool = True,
    start: float = 0.0,
    seconds: float = 1.0,
) -> None:
    """Record rows as one call; it begins an attempt, or goes on with the one before."""
    path = task / "steps.f4"
    with path.open("r+b" if path.exists() else "wb") as file:
        file.seek(first_step * rows[:1].nbytes)
        file.truncate()
        file.write(rows.astype("<f4").tobytes())
    call = [first_step, len(rows), start or time.time(), seconds]
    log = [[first_step, 0, call[2], 0.0], call] if begins else [call]
    with (task / "calls.f8").open("ab") as file:
        file.write(np.array(log).astype("<f8").tobytes())


def write_epoch(
    folder: Path, epoch: int, step: int, test_accuracy: float = 0.75, loss: float = 1.5
) -> None:
    """Append the event that closes an epoch."""
    numbers = {"loss": loss, "accuracy": 0.5, "test_loss": 1.25, "test_accuracy": test_accuracy}
    event = {"event": "epoch", "epoch": epoch, "step": step, **numbers}
    _append(folder / "worker-0" / "events.jsonl", event)


def _append(path: Path, event: dict[str, Any]) -> None:
    with path.open("a") as file:
        file.write(json.dumps({"time": time.time(), **event}) + "\n")
