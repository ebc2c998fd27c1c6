"""Verdicts on written runs, with known parts of a step."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.machines import LAPTOP
from tests.verdict.steps import STEPS_PER_CALL, broken_down
from tests.widgets.folders import write_run
from workbench.config import RunConfig
from workbench.interval import Interval
from workbench.runs import Run
from workbench.runs.folder.files import json_text
from workbench.verdict import Verdict
from workbench.verdict.parts import Breakdown
from workbench.verdict.recorded import Recorded
from workbench.verdict.verdict import conclude

CHATTY = RunConfig(strategy="one_device", steps_per_call=10, global_batch_size=64)
"""A config whose calls can hold more steps."""


def timed_run(root: Path, config: RunConfig = CHATTY, state: str = "finished") -> Run:
    """Return a written run with the facts of its machine, which a verdict needs."""
    run = write_run(root, state, config=config)
    (run.dir / "devices.json").write_text(json_text(LAPTOP.to_json()))
    return run


def verdict_on(
    run: Run, parts: Mapping[str, float], recorded_seconds: float | None = None
) -> Verdict:
    """Return the verdict on a step with these parts, in seconds."""
    found = broken_down(parts, run.plan.workers, run.plan.num_replicas_in_sync)
    return verdict_of(run, found, recorded_seconds)


def verdict_of(run: Run, found: Breakdown, recorded_seconds: float | None = None) -> Verdict:
    """Return the verdict on a measured step, of a run that recorded steps of these seconds."""
    near = None
    if recorded_seconds is not None:
        near = Interval(recorded_seconds, 0.99 * recorded_seconds, 1.01 * recorded_seconds)
    return conclude(run, Recorded(STEPS_PER_CALL, near), found)
