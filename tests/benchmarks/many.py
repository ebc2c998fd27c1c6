"""A folder of many runs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.widgets.folders import write_run


def make_runs(folder: Path, count: int) -> None:
    """Write an ended run and copy it; each copy is a second older."""
    run = write_run(folder)
    card = json.loads((run.dir / "run.json").read_text())
    for number in range(1, count):
        copied = folder / f"{run.id}-{number:04d}"
        shutil.copytree(run.dir, copied)
        card |= {"id": copied.name, "created": card["created"] - 1}
        (copied / "run.json").write_text(json.dumps(card))
