"""The title of a run: the user's name, else model, strategy and start."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.widgets.folders import CONFIG, write_run
from workbench import catalog
from workbench.runs import Run
from workbench.runs.title import start_of

DAY_SECONDS = 86400


def made_at(run: Run, created: float) -> Run:
    """Return the run with another time in its card."""
    card = run.dir / "run.json"
    card.write_text(json.dumps({**json.loads(card.read_text()), "created": created}))
    return Run(run.dir)


def test_a_run_has_the_name_that_the_user_gave_it(tmp_path: Path) -> None:
    run = write_run(tmp_path, name="Baseline")
    assert (run.title, run.dated_title) == ("Baseline", "Baseline")


def test_a_run_without_a_name_is_titled_by_model_strategy_and_start(tmp_path: Path) -> None:
    created = time.mktime((2020, 11, 25, 6, 13, 0, 0, 0, -1))
    run = made_at(write_run(tmp_path), created)
    assert run.title == "MLP, Mirrored x 2, 25 Nov 2020, 06:13"
    assert run.dated_title == run.title


@pytest.mark.parametrize(
    ("settings", "difference"),
    [
        ({"learning_rate": 0.05}, "learning rate 0.05"),
        ({"optimizer": "sgd", "seed": 7}, "SGD, seed 7"),
        ({"precision": "mixed_bfloat16", "xla": True}, "mixed_bfloat16, XLA"),
    ],
)
def test_settings_that_differ_from_the_usual_ones_tell_runs_apart(
    settings: dict[str, Any], difference: str, tmp_path: Path
) -> None:
    usual, run = write_run(tmp_path), write_run(tmp_path, config=replace(CONFIG, **settings))
    assert difference not in usual.title
    assert run.title.startswith(f"MLP, Mirrored x 2, {difference}, ")


def test_models_of_one_name_in_different_files_have_different_titles() -> None:
    addresses = ["wide.py:build_model", "nets.deep:build_model", "build_model_1a2b.py:build_model"]
    names = [catalog.short_label_of("model", address) for address in addresses]
    assert names == ["wide.build_model", "nets.deep.build_model", "build_model_1a2b"]


def test_the_start_has_the_date_only_if_it_is_not_today() -> None:
    now = time.time()
    today = time.strftime("%H:%M", time.localtime(now))
    assert today in start_of(now)
    assert start_of(now, dated=True).endswith(f", {today}")
    assert start_of(now - 2 * DAY_SECONDS).count(",") == 1


@pytest.mark.parametrize(
    ("model", "title"),
    [
        ("cnn", "CNN"),
        ("my_models:build_net", "my_models.build_net"),
        ("/home/me/my models/nets.py:build_net", "nets.build_net"),
        ("/home/me/my models/nets.py", "nets"),
    ],
)
def test_an_own_model_is_called_by_its_module_and_function(model: str, title: str) -> None:
    assert catalog.short_label_of("model", model) == title


@pytest.mark.parametrize("damage", [{"model": 5}, {"strategy": {}}, {"config": []}, {"data": None}])
def test_a_run_whose_plan_is_not_known_is_titled_by_its_id(
    damage: dict[str, object], tmp_path: Path
) -> None:
    run = write_run(tmp_path)
    (run.dir / "plan.json").write_text(json.dumps({**run.plan.to_json(), **damage}))
    assert run.title == run.id
    (run.dir / "plan.json").write_text("{")
    assert run.title == run.id


def test_a_run_whose_start_is_not_known_is_titled_by_its_id(tmp_path: Path) -> None:
    run = made_at(write_run(tmp_path), 0)
    assert run.title == run.id
