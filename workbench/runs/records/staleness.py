"""The number of updates by other workers during each step of a worker that does not wait."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from workbench.runs.folder.clocks import CLOCK_SECONDS, TaskClock
from workbench.runs.folder.files import FIRST_STEP
from workbench.runs.folder.state import supervisor_events

FILE = "updates"
"""A file in each worker's folder: float64 [steps, 3]. The columns are the worker's own step
from 0, the time just before it read the weights, and the time after it updated them, in seconds
since 1970."""

Updates = npt.NDArray[np.float64]
NONE: Updates = np.empty((0, 3))


def read_staleness(run_dir: Path, workers: Sequence[str]) -> pd.DataFrame:
    """Return a row for each recorded step: `worker` (its number), `step` (its own, from 1),
    `staleness`.

    Staleness counts the updates by others between a step's reading of the weights and its own
    update. The times come from the clock that the workers of a machine share. If the clocks of
    their hosts differ, the order of the updates is unknown, and the table is empty. If a resume did
    a step again, the newer one is kept.
    """
    known = _clocks_agree(run_dir, workers)
    updates = [read_updates(run_dir / worker) if known else NONE for worker in workers]
    numbers = [int(worker.rpartition("-")[2]) for worker in workers]
    frames = [
        _frame(number, updates[at], [*updates[:at], *updates[at + 1 :]])
        for at, number in enumerate(numbers)
    ]
    return pd.concat(frames, ignore_index=True)


def _clocks_agree(run_dir: Path, workers: Sequence[str]) -> bool:
    events = supervisor_events(run_dir)
    attempts = zip(*(TaskClock(worker, events).ahead for worker in workers), strict=True)
    return all(max(ahead) - min(ahead) <= CLOCK_SECONDS for ahead in attempts)


def _frame(number: int, own: Updates, others: Sequence[Updates]) -> pd.DataFrame:
    step, read_at, updated_at = own.T
    moments = np.sort(np.concatenate([np.empty(0), *(each[:, 2] for each in others)]))
    before, after = (np.searchsorted(moments, at, side="right") for at in (read_at, updated_at))
    columns = {
        "worker": number,
        "step": step.astype(np.int64) + FIRST_STEP,
        "staleness": after - before,
    }
    kept = pd.DataFrame(columns).drop_duplicates("step", keep="last")
    return kept.sort_values("step", ignore_index=True)


def read_updates(task_dir: Path) -> Updates:
    """Return a worker's recorded updates, see `FILE`; no rows if it recorded none."""
    path = task_dir / FILE
    content = path.read_bytes() if path.exists() else b""
    return np.frombuffer(content[: len(content) // 24 * 24], "<f8").reshape(-1, 3)
