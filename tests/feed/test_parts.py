"""Tests of the description of a run in one line, and of its epochs."""

from pathlib import Path

import numpy as np

from tests.machines import LAPTOP
from workbench.config import RunConfig
from workbench.feed.parts import describe, epoch_part
from workbench.plan import make_plan
from workbench.points import EpochPoints

OWN = "def build_model():\n    return None\n"


def test_a_description_has_the_catalogues_names_of_model_and_data() -> None:
    described = describe(make_plan(RunConfig(per_replica_batch_size=32), LAPTOP))
    assert described.startswith("MLP 16-8-1 on Synthetic, Custom loop, Mirrored on ")
    assert described.endswith(", 32 per replica, 64 per step")


def test_the_users_own_function_is_named_without_its_file(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN, encoding="utf-8")
    config = RunConfig(model=f"{tmp_path / 'mine.py'}:build_model")
    assert describe(make_plan(config, LAPTOP)).startswith("build_model() on Synthetic, ")


def test_an_epoch_has_the_metrics_of_its_model() -> None:
    row = np.array([0.5])
    points = EpochPoints(row, row, row, row, row, {"auc": np.array([np.nan]), "test_auc": row})
    assert epoch_part([1], points)["metrics"] == {"auc": [None], "test_auc": [0.5]}
