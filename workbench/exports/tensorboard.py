"""Runs as TensorBoard's event files, written by TensorBoard's own package without TensorFlow.

Each run is a folder with a subfolder for each line. `all`, over all replicas, and `replica-N` hold
step/loss, step/accuracy and step/examples_per_second. `train` and `test` hold the results of each
epoch as epoch/loss, epoch/accuracy and so on. The run's own folder holds its config, its result,
its environment and its script as texts, and its hyperparameters.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.free_path import file_name

from .event_file import EventFile

if TYPE_CHECKING:
    import pandas as pd

    from workbench.runs import Run

    from .formats import OnProgress

MEASURES = ("loss", "accuracy", "examples_per_second")
COLUMNS = ("step", "replica", "examples", "time")


def write_tensorboard(runs: Sequence[Run], folder: Path, on_progress: OnProgress) -> None:
    """Write runs to a new folder for `tensorboard --logdir`."""
    folder.mkdir()
    for number, run in enumerate(runs):
        own = folder / file_name(f"{run.name} {run.id}" if run.name else run.id)
        _write_about(run, own)
        _write_epochs(run, own)
        _write_steps(run, own, _part(on_progress, number, len(runs)))


def _part(on_progress: OnProgress, number: int, runs: int) -> OnProgress:
    """Return the function that receives the progress of one run of several."""
    return lambda done, total: on_progress(number * total + done, runs * total)


def _write_steps(run: Run, folder: Path, on_progress: OnProgress) -> None:
    measures = (*MEASURES, *run.scalars)
    frame = run.replica_steps((*COLUMNS, *measures))
    frame["time"] = frame["time"].ffill().fillna(run.created)
    lines = list(_lines(run, frame))
    for at, (name, line) in enumerate(lines):
        with EventFile(folder / name, run.created) as file:
            _write_line(file, line, measures)
        on_progress(at + 1, len(lines))


def _lines(run: Run, frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each line's name with its rows."""
    plan = run.plan
    if plan.synchronous:
        steps = run.steps()
        ends = frame.groupby("step", sort=True)["time"].max()
        yield "all", steps.assign(time=steps["step"].map(ends))
    if plan.num_replicas_in_sync > 1 or not plan.synchronous:
        for replica, own in frame.groupby("replica", sort=True):
            yield f"replica-{replica}", own


def _write_line(file: EventFile, line: pd.DataFrame, measures: Sequence[str]) -> None:
    """Write the known values of each step; a loss that is not a number is written as it is."""
    names = [f"step/{name}" for name in measures]
    values = line[list(measures)].to_numpy(np.float64)
    known = np.isfinite(values)
    known[:, 0] = line["examples"].to_numpy() > 0
    rows = zip(line["step"].tolist(), line["time"].tolist(), values.tolist(), known, strict=True)
    for step, time, row, shown in rows:
        file.scalars(step, time, {n: v for n, v, k in zip(names, row, shown, strict=True) if k})


def _write_epochs(run: Run, folder: Path) -> None:
    """Write the results of each epoch, with the time of the event that reported its end."""
    frame, ends = run.epochs(), _epoch_times(run)
    others = ("epoch", "examples", "seconds", "steps")
    measured = [name for name in frame.columns if name not in others]
    for part in ("train", "test"):
        names = [name for name in measured if name.startswith("test_") == (part == "test")]
        if not frame[names].notna().to_numpy().any():
            continue
        with EventFile(folder / part, run.created) as file:
            for row in frame.to_dict("records"):
                results = {f"epoch/{n.removeprefix('test_')}": float(row[n]) for n in names}
                known = {name: value for name, value in results.items() if np.isfinite(value)}
                file.scalars(int(row["epoch"]), ends.get(int(row["epoch"]), run.created), known)


def _epoch_times(run: Run) -> dict[int, float]:
    events = [event for event in run.events() if event["event"] in ("epoch", "evaluated")]
    return {int(e["epoch"]): float(e["time"]) for e in events if "epoch" in e and "time" in e}


def _write_about(run: Run, folder: Path) -> None:
    with EventFile(folder, run.created) as file:
        file.hyperparameters(run.id, _hyperparameters(run))
        file.text("config", _as_code(run.config.to_json()))
        file.text("result", _as_code(run.result()))
        if run.devices is not None:
            file.text("environment", _as_code(run.devices.to_json()))
        file.text("script", _indented(run.script))


def _hyperparameters(run: Run) -> dict[str, bool | int | float | str]:
    """Return the values of the config and the choices of the plan, without open fields."""
    plan, asked = run.plan, run.config.to_json()
    chosen = {
        "model": plan.model,
        "optimizer": plan.optimizer,
        "learning_rate": plan.learning_rate,
        "num_replicas_in_sync": plan.num_replicas_in_sync,
        "per_replica_batch_size": plan.per_replica_batch_size,
        "global_batch_size": plan.global_batch_size,
        "steps_per_epoch": plan.steps_per_epoch,
    }
    plain = {
        n: v for n, v in {**asked, **chosen}.items() if isinstance(v, bool | int | float | str)
    }
    return {name: value for name, value in plain.items() if value != "" and name != "version"}


def _as_code(values: Any) -> str:
    return _indented(json.dumps(values, indent=2, ensure_ascii=False))


def _indented(text: str) -> str:
    """Return a text as code in Markdown; no line of the text can end the code."""
    return "\n".join(f"    {line}" for line in text.splitlines())
