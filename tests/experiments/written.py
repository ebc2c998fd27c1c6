"""A comparison with its runs; the files are written without training."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tests.experiments.timed_runs import ONE, TWO, timed_run
from tests.machines import LAPTOP
from tests.widgets.folders import write_run
from workbench.config import RunConfig
from workbench.experiments import Candidate, Cell, Comparison
from workbench.experiments.cells import CERTIFIED, JUDGED
from workbench.runs.folder.files import json_text

NO_TPU = Candidate("TPU", ONE, "strategy must be one that this machine can run: no TPU here")


def write_comparison(
    root: Path,
    rates: Mapping[str, Sequence[float | None]],
    state: str = "finished",
    name: str = "compare-20260101-000000-abcd",
    drop_below: float = 0.0,
) -> Comparison:
    """Return a comparison of OneDevice and Mirrored, with runs of these speeds, and of a TPU.

    A run with the speed None has no steps.
    """
    folder = root / name
    folder.mkdir(parents=True)
    configs = {"OneDevice": ONE, "Mirrored x 2": TWO}
    candidates = [*(Candidate(label, config) for label, config in configs.items()), NO_TPU]
    runs = [
        (number, _run_of(folder, config, rate))
        for number, (label, config) in enumerate(configs.items())
        for rate in rates[label]
    ]
    return write_request(folder, candidates, runs, state, drop_below)


def write_request(
    folder: Path,
    candidates: Sequence[Candidate],
    runs: Iterable[tuple[int, str]],
    state: str = "finished",
    drop_below: float = 0.0,
    results: Iterable[Mapping[str, object]] = (),
    *,
    agreement: bool = False,
) -> Comparison:
    """Return a comparison of these candidates; `runs` has the candidate and the id of each run.

    `results` are further events.
    """
    asked = {
        "agreement": agreement,
        "version": 1,
        "created": 1000.0,
        "repeats": 1 if agreement else 3,
        "budget_seconds": None,
        "target_accuracy": 0.8,
        "drop_below": drop_below,
        "candidates": [each.to_json() for each in candidates],
    }
    (folder / "compare.json").write_text(json_text(asked))
    (folder / "devices.json").write_text(json_text(LAPTOP.to_json()))
    events: list[dict[str, object]] = [{"event": "state", "state": "running", "pid": 1}]
    rounds = Counter[int]()
    for number, run in runs:
        at = rounds[number]
        rounds[number] += 1
        events.append({"event": "begun", "candidate": number, "round": at, "run": run})
        events.append({"event": "ended", "run": run, "seconds": 8.0, "status": "finished"})
    events += [*map(dict, results), {"event": "state", "state": state}]
    lines = [json.dumps({"time": 1000.0, **event}) + "\n" for event in events]
    (folder / "queue.jsonl").write_text("".join(lines))
    return Comparison(folder)


def write_matrix(root: Path, name: str, cells: Sequence[Cell]) -> Comparison:
    """Return a stopped matrix with these results; the runs of its cells were deleted."""
    folder = root / name
    folder.mkdir(parents=True)
    candidates, runs, results = [], [], []
    for number, cell in enumerate(cells):
        config = RunConfig(strategy=cell.strategy, loop=cell.loop, epochs=1, steps_per_epoch=50)
        reason = cell.reason if cell.status == "unavailable" else ""
        candidates.append(Candidate(f"{cell.strategy}, {cell.loop}", config, reason))
        if cell.status not in ("pass", "fail"):
            continue
        runs.append((number, f"deleted-{number}"))
        of_steps = ("status", "max_loss_difference", "float32_loss_difference", "steps_per_second")
        for kind, names in ((JUDGED, of_steps), (CERTIFIED, ("max_weight_difference",))):
            values = {each: getattr(cell, each) for each in names}
            results.append({"event": kind, "candidate": number, "reason": cell.reason, **values})
    return write_request(folder, candidates, runs, "stopped", results=results, agreement=True)


def _run_of(folder: Path, config: RunConfig, rate: float | None) -> str:
    """Write a finished run of this speed; return its id."""
    run = timed_run(folder, config, rate) if rate else write_run(folder, steps=0, config=config)
    return run.dir.name
