"""The frames of runs as files of CSV or Parquet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from workbench.free_path import file_name

if TYPE_CHECKING:
    from workbench.runs import Run

    from .formats import OnProgress

TABLES: dict[str, Callable[[Run], pd.DataFrame]] = {
    "steps": lambda run: run.steps(),
    "replica_steps": lambda run: run.replica_steps(),
    "epochs": lambda run: run.epochs(),
}


def write_csv(runs: Sequence[Run], folder: Path, on_progress: OnProgress) -> None:
    """Write runs as CSV. Unknown values, and losses that are not a number, are empty cells."""
    _write(runs, folder, on_progress, "csv", lambda frame, path: frame.to_csv(path, index=False))


def write_parquet(runs: Sequence[Run], folder: Path, on_progress: OnProgress) -> None:
    """Write runs as Parquet; the columns have the types of the frames."""

    def write(frame: pd.DataFrame, path: Path) -> None:
        frame.to_parquet(path, index=False, engine="pyarrow")

    _write(runs, folder, on_progress, "parquet", write)


def _write(
    runs: Sequence[Run],
    folder: Path,
    on_progress: OnProgress,
    ending: str,
    write: Callable[[pd.DataFrame, Path], Any],
) -> None:
    total = len(runs) * len(TABLES)
    folder.mkdir()
    for name in TABLES:
        (folder / name).mkdir()
    for number, run in enumerate(runs):
        for at, (name, table) in enumerate(TABLES.items()):
            frame = table(run)
            frame.insert(0, "run", pd.Series(pd.Categorical([run.id] * len(frame))))
            write(frame, folder / name / f"{file_name(run.id)}.{ending}")
            on_progress(number * len(TABLES) + at + 1, total)
    about_runs(runs).to_csv(folder / "runs.csv", index=False)


def about_runs(runs: Sequence[Run]) -> pd.DataFrame:
    """Return a row per run: its results, `name`, `created`, and each setting as `config.FIELD`."""
    rows = []
    for run in runs:
        asked = {f"config.{name}": value for name, value in run.config.to_json().items()}
        rows.append({**run.result(), "name": run.name, "created": run.created, **asked})
    return pd.DataFrame(rows)
