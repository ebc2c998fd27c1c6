"""How many steps others did during each step of a worker that waits for nobody."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

FILE = "staleness"
"""In each worker's folder: int64 [steps, 2], the worker's own step and its staleness."""


def read_staleness(run_dir: Path, workers: Sequence[str]) -> pd.DataFrame:
    """Return a row for each recorded step: `worker` (its number), `step` (its own), `staleness`.

    Staleness counts the updates by others between a step's reading of the weights and its own
    update. Of a step that a resume did again the newer one is kept.
    """
    frames = [_of_worker(run_dir / worker / FILE, int(worker[7:])) for worker in workers]
    return pd.concat(frames, ignore_index=True)


def _of_worker(path: Path, number: int) -> pd.DataFrame:
    content = path.read_bytes() if path.exists() else b""
    rows = np.frombuffer(content[: len(content) // 16 * 16], "<i8").reshape(-1, 2)
    frame = pd.DataFrame({"worker": number, "step": rows[:, 0], "staleness": rows[:, 1]})
    kept = frame.drop_duplicates("step", keep="last")
    return kept.sort_values("step", ignore_index=True)
