"""A run that was stopped, with a checkpoint."""

from __future__ import annotations

import json
from pathlib import Path

from tests.runs.run_folders import save
from tests.widgets.folders import write_run
from workbench.runs import Run


def stopped_run(root: Path) -> Run:
    """A stopped run with a checkpoint of step 20."""
    run = write_run(root, "stopped", steps=20)
    event = {"time": 0.0, "event": "checkpoint", "step": 20, "checkpoint": "ckpt-1"}
    with (run.dir / "worker-0" / "events.jsonl").open("a") as file:
        file.write(json.dumps(event) + "\n")
    save(run.dir, 1)
    return run
