"""A real run of an earlier release, whose records are a pair of files for each attempt.

Its trainer was killed after 70 steps, resumed at step 60 and stopped after 115.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.waiting import LIMIT_SECONDS, until
from workbench.runs import Run, RunError, restore_run
from workbench.runs.records.live import LiveRun

PACKED = Path(__file__).parents[2] / "fixtures" / "run-of-08966cc.zip"
RESUMED_AT, STEPS = 60, 115


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return restore_run(PACKED, tmp_path)


def losses_on_disk(run: Run) -> list[float]:
    """Return the loss of each step over both replicas, read without the workbench."""
    rows = [
        np.fromfile(run.dir / "worker-0" / f"{name}.steps", "<f4").reshape(-1, 2, 3)
        for name in ("0000-000000000000", "0001-000000000060")
    ]
    sums = np.concatenate([rows[0][:RESUMED_AT], rows[1]]).sum(axis=1, dtype=np.float64)
    return (sums[:, 0] / sums[:, 2]).tolist()


def test_its_steps_are_read_and_those_done_again_only_once(run: Run) -> None:
    assert run.status == "stopped"
    steps = run.steps()
    assert steps["step"].tolist() == list(range(1, STEPS + 1))
    assert steps["loss"].tolist() == losses_on_disk(run)
    assert (steps["call_seconds"] > 0).all()
    assert run.missing == []
    assert run.epochs()["epoch"].tolist() == [1, 2, 3, 4, 5]
    assert run.progress.step == STEPS


def test_its_curves_and_its_ledger_count_both_attempts(run: Run) -> None:
    live = LiveRun(run.dir, run.plan)
    live.poll()
    points = live.points()
    assert points.step.tolist() == list(range(1, STEPS + 1))
    np.testing.assert_allclose(points.loss.joined, losses_on_disk(run), rtol=1e-6)
    assert run.totals.examples_per_second
    spent = {entry.name: entry.seconds for entry in run.ledger.whole}
    assert spent["steps"] > 0
    assert spent["other"] > 0  # the steps that were done again


@pytest.mark.slow
def test_its_model_can_be_tested_but_its_steps_are_not_taken_apart(run: Run) -> None:
    assert run.evaluate()["test_examples"] == run.plan.num_test_examples
    with pytest.raises(RunError, match=r"by an earlier release.*Start a new run"):
        run.xray(100)


@pytest.mark.slow
def test_its_own_script_goes_on_and_is_followed(run: Run) -> None:
    before = losses_on_disk(run)
    run.resume()
    until(lambda: run.progress.step > STEPS + 10)
    run.stop()
    assert run.wait(LIMIT_SECONDS) == "stopped"
    steps = run.steps()
    assert steps["step"].tolist() == list(range(1, run.progress.step + 1))
    assert steps["loss"].tolist()[:STEPS] == before
    assert run.missing == []
