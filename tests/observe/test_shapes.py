"""Training in shapes that no lesson has is recorded too, and ends as it does alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.observe.observing import SCRIPTS, events, observe
from workbench.observe.folder.records import LOG_ROW_BYTES

SCRIPT = SCRIPTS / "shapes.py"
STEPS, BATCH = 6, 4


def observed(shape: str, folder: Path, **options: Any) -> str:
    return observe(SCRIPT, folder, shape, **options).stdout


def recorded(folder: Path) -> np.ndarray[Any, Any]:
    """Return the loss of each step."""
    rows = np.fromfile(folder / "worker-0" / "steps.f4", np.float32).reshape(-1, 3)
    assert (rows[:, 2] == BATCH).all()
    return rows[:, 0] / rows[:, 2]


@pytest.mark.parametrize(
    "shape",
    [
        "compiled", "compiled fit", "eager", "in a thread", "until the data ends",
        "with summed gradients", "without an optimizer",
    ],
)  # fmt: skip
def test_every_step_is_recorded(shape: str, tmp_path: Path) -> None:
    observed(shape, tmp_path)
    returned = np.load(tmp_path / "returned.npy")
    assert returned.shape == (STEPS,)
    np.testing.assert_allclose(recorded(tmp_path)[-STEPS:], returned, rtol=1e-6)
    (finished,) = events(tmp_path, "finished")
    assert finished["step"] == len(recorded(tmp_path))


def test_steps_of_a_loop_that_xla_compiles_are_said_not_to_be_recorded(tmp_path: Path) -> None:
    assert "not_recorded" in observed("compiled loop", tmp_path)
    assert not (tmp_path / "worker-0" / "steps.f4").exists()
    assert np.isfinite(np.load(tmp_path / "returned.npy"))


def test_a_step_that_runs_eagerly_has_its_own_time(tmp_path: Path) -> None:
    observed("eager", tmp_path)
    calls = np.fromfile(tmp_path / "worker-0" / "calls.f8").reshape(-1, LOG_ROW_BYTES // 8)
    steps = calls[calls[:, 1] > 0]
    assert len(steps) == STEPS
    assert (steps[:, 3] >= 0.05).all()


def test_numbers_without_names_are_numbered(tmp_path: Path) -> None:
    observed("two losses", tmp_path)
    found = [
        np.fromfile(tmp_path / "worker-0" / f"scalar-value_{number}.f4", np.float32)
        for number in (1, 2)
    ]
    np.testing.assert_allclose(np.stack(found, axis=1), np.load(tmp_path / "returned.npy"))


def test_steps_of_two_kinds_keep_their_order_while_a_call_runs(tmp_path: Path) -> None:
    observed("in turn", tmp_path)
    calls = np.fromfile(tmp_path / "worker-0" / "calls.f8").reshape(-1, LOG_ROW_BYTES // 8)
    assert (calls[:, 1] > 0).sum() > 2  # recorded in parts
    first, second = (
        np.fromfile(tmp_path / "worker-0" / f"scalar-{name}.f4", np.float32)
        for name in ("discriminator", "generator")
    )
    assert np.isfinite(first[::2]).all()
    assert np.isnan(first[1::2]).all()
    assert np.isnan(second[::2]).all()
    assert np.isfinite(second[1::2]).all()
    (finished,) = events(tmp_path, "finished")
    assert len(second) == finished["step"]


def test_a_stop_saves_where_training_goes_on_and_leaves_the_best_weights(tmp_path: Path) -> None:
    observed("with the best weights", tmp_path, stop=True)
    assert [each["step"] for each in events(tmp_path, "stopped")] == [1]
    assert not list((tmp_path / "best").glob("*.index"))
    assert len(list((tmp_path / "saved").glob("*.index"))) == 1
