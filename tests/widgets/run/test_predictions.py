"""The page of the trained model's answers: which weights it offers to test, and what it tested."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.runs.folder.test_checkpoints import save
from tests.widgets.folders import write_run
from workbench.runs import Run
from workbench.widgets.run.predictions import Predictions

RESULT: dict[str, Any] = {"test_loss": 0.25, "test_accuracy": 0.9, "classes": []}
WEIGHTS = "the weights of step 20, the last checkpoint"


def stopped_run(root: Path) -> Run:
    """A stopped run with a checkpoint of step 20."""
    run = write_run(root, "stopped", steps=20)
    event = {"time": 0.0, "event": "checkpoint", "step": 20, "checkpoint": "ckpt-1"}
    with (run.dir / "worker-0" / "events.jsonl").open("a") as file:
        file.write(json.dumps(event) + "\n")
    save(run.dir, 1)
    return run


def keep(run: Run, **values: Any) -> None:
    """Write an evaluation that is newer than the checkpoint."""
    path = run.dir / "evaluation.json"
    path.write_text(json.dumps({**RESULT, **values}))
    later = (run.dir / "checkpoints" / "checkpoint").stat().st_mtime + 1
    os.utime(path, (later, later))


@pytest.fixture
def page() -> Predictions:
    return Predictions()


def test_a_stopped_run_can_be_evaluated_from_its_last_checkpoint(
    page: Predictions, tmp_path: Path
) -> None:
    page.show(stopped_run(tmp_path), "stopped")
    assert not page._evaluate.disabled
    assert f"Evaluates {WEIGHTS}." in page._state.value


def test_the_result_names_the_checkpoint(page: Predictions, tmp_path: Path) -> None:
    run = stopped_run(tmp_path)
    keep(run, checkpoint_step=20)
    page.show(run, "stopped")
    assert f"Test accuracy 90.00%, test loss 0.25, with {WEIGHTS}." in page._state.value


@pytest.mark.parametrize("values", [{}, {"checkpoint_step": 10}])
def test_a_result_of_other_weights_is_not_shown(
    page: Predictions, tmp_path: Path, values: dict[str, Any]
) -> None:
    run = stopped_run(tmp_path)
    keep(run, **values)
    page.show(run, "stopped")
    assert "Not evaluated yet." in page._state.value


def test_without_a_checkpoint_the_reason_is_shown(page: Predictions, tmp_path: Path) -> None:
    page.show(write_run(tmp_path, "failed", steps=5), "failed")
    assert page._evaluate.disabled
    assert "is failed and has no complete checkpoint. Resume the run" in page._state.value


def test_a_run_is_offered_again_after_it_went_on(page: Predictions, tmp_path: Path) -> None:
    run = stopped_run(tmp_path)
    page.show(run, "stopped")
    page.show(run, "running")
    assert page._evaluate.disabled
    assert "can be evaluated after the run" in page._state.value
    page.show(run, "stopped")
    assert not page._evaluate.disabled
