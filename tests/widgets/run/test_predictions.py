"""The page of the trained model's answers: which weights it offers to test, and what it tested."""

from __future__ import annotations

import base64
import io
import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.widgets.folders import stopped_run, write_run
from workbench.runs import Run
from workbench.widgets.parts import markup
from workbench.widgets.run.predictions import NO_IMAGES, Predictions

RESULT: dict[str, Any] = {"test_loss": 0.25, "test_accuracy": 0.9, "classes": []}
WEIGHTS = "the weights of step 20, the last checkpoint"


def keep(run: Run, **values: Any) -> None:
    """Write an evaluation that is newer than the checkpoint."""
    path = run.dir / "evaluation.json"
    path.write_text(json.dumps({**RESULT, **values}))
    later = (run.dir / "checkpoints" / "checkpoint").stat().st_mtime + 1
    os.utime(path, (later, later))


def evaluated(root: Path, **arrays: Any) -> Run:
    """A stopped run with the evaluation of one example."""
    run = stopped_run(root)
    row = {"name": "0", "examples": 1, "accuracy": 1.0}
    confusion = {"names": ["0"], "pairs": [[0, 0, 1]]}
    keep(run, checkpoint_step=20, classes=[row], confusion=confusion)
    none = np.array([0])
    np.savez(run.dir / "predictions.npz", labels=none, answers=none, confidence=none, **arrays)
    return run


@pytest.fixture
def page() -> Predictions:
    return Predictions()


def test_a_stopped_run_can_be_evaluated_from_its_last_checkpoint(
    page: Predictions, tmp_path: Path
) -> None:
    page.show(stopped_run(tmp_path), "stopped")
    assert not page._evaluate.disabled
    assert f"Evaluate tests {WEIGHTS}." in page._state.value


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


@pytest.mark.parametrize("shape", [(4, 4), (4, 4, 3), (4, 4, 4)])
def test_images_are_shown_in_their_colors(
    page: Predictions, tmp_path: Path, shape: tuple[int, ...]
) -> None:
    pixels = np.full((1, *shape), 200, np.uint8)
    pixels[..., -1] = 40
    page.show(evaluated(tmp_path, images=pixels), "stopped")
    (shown,) = re.findall(r'src="data:image/png;base64,([^"]+)"', page._images.value)
    picture = Image.open(io.BytesIO(base64.b64decode(shown)))
    np.testing.assert_array_equal(np.asarray(picture), pixels[0])


def test_examples_that_are_no_images_are_named_with_the_shapes_of_images(
    page: Predictions, tmp_path: Path
) -> None:
    page.show(evaluated(tmp_path), "stopped")
    assert page._images.value == markup.quiet(NO_IMAGES)
    assert "(height, width, 3)" in NO_IMAGES


def test_without_a_checkpoint_the_reason_is_shown(page: Predictions, tmp_path: Path) -> None:
    page.show(write_run(tmp_path, "failed", steps=5), "failed")
    assert page._evaluate.disabled
    assert "is failed, and no checkpoint of it is complete. Resume it, then" in page._state.value


def test_a_run_is_offered_again_after_it_went_on(page: Predictions, tmp_path: Path) -> None:
    run = stopped_run(tmp_path)
    page.show(run, "stopped")
    page.show(run, "running")
    assert page._evaluate.disabled
    assert "can be evaluated when the run has ended" in page._state.value
    page.show(run, "stopped")
    assert not page._evaluate.disabled
