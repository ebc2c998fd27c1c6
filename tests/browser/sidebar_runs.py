"""Runs that a test adds to the folder that the sidebar shows."""

import json
import shutil
from pathlib import Path

from tests.widgets.folders import write_run
from workbench.runs import Run


def add(runs: Path, name: str, state: str = "finished", **more: object) -> Run:
    """Add a run; its complete folder appears in one step, as for real runs."""
    made = write_run(runs.parent / ".made", state, name=name, **more)  # type: ignore[arg-type]
    runs.mkdir(exist_ok=True)
    made.dir.rename(runs / made.id)
    return Run(runs / made.id)


def add_many(runs: Path, count: int) -> None:
    """Add copies of one run, each a second older than the previous one."""
    run = add(runs, "run 0")
    card = json.loads((run.dir / "run.json").read_text())
    for number in range(1, count):
        copied = runs / f"{run.id}-{number:04d}"
        shutil.copytree(run.dir, copied)
        card |= {"name": f"run {number}", "created": card["created"] - 1}
        (copied / "run.json").write_text(json.dumps(card))
