"""A comparison with its runs; the files are written without training."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.experiments.timed_runs import ONE, TWO, timed_run
from tests.machines import LAPTOP
from workbench.experiments import Candidate, Comparison
from workbench.runs.folder.files import json_text

NO_TPU = Candidate("TPU", ONE, "strategy must be one that this machine can run: no TPU here")


def write_comparison(
    root: Path,
    rates: Mapping[str, Sequence[float]],
    state: str = "finished",
    name: str = "compare-20260101-000000-abcd",
) -> Comparison:
    """Return a comparison of OneDevice and Mirrored, with runs of these speeds, and of a TPU."""
    folder = root / name
    folder.mkdir(parents=True)
    configs = {"OneDevice": ONE, "Mirrored x 2": TWO}
    candidates = [*(Candidate(label, config) for label, config in configs.items()), NO_TPU]
    asked = {
        "version": 1,
        "created": 1000.0,
        "repeats": 3,
        "budget_seconds": None,
        "target_accuracy": 0.8,
        "drop_below": 0.0,
        "candidates": [each.to_json() for each in candidates],
    }
    (folder / "compare.json").write_text(json_text(asked))
    (folder / "devices.json").write_text(json_text(LAPTOP.to_json()))
    events: list[dict[str, object]] = [{"event": "state", "state": "running", "pid": 1}]
    for number, (label, config) in enumerate(configs.items()):
        for at, rate in enumerate(rates[label]):
            run = timed_run(folder, config, rate).dir.name
            events.append({"event": "begun", "candidate": number, "round": at, "run": run})
            events.append({"event": "ended", "run": run, "seconds": 8.0, "status": "finished"})
    events.append({"event": "state", "state": state})
    lines = [json.dumps({"time": 1000.0, **event}) + "\n" for event in events]
    (folder / "queue.jsonl").write_text("".join(lines))
    return Comparison(folder)
