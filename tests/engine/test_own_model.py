"""The model of a user: trained unchanged in both loops, or refused with the reason."""

import os
from pathlib import Path

import numpy as np
import pytest

from tests.engine.training import Trained, train_together
from tests.forked import ROOT
from workbench.config import RunConfig
from workbench.runs import RunError

pytestmark = pytest.mark.slow

FILE = Path(__file__).parent / "own_models.py"
BASE = {"synthetic_examples": 640, "global_batch_size": 32, "epochs": 1, "optimizer": "sgd"}
FIRST = ["plain", "doubled", "weighed", "twice_weighed"]
OTHERS = ["regularized", "normalized", "built_late", "secret"]


def in_both_loops(names: list[str]) -> dict[str, RunConfig]:
    return {
        f"{name}-{loop}": RunConfig(**BASE, loop=loop, model=f"{FILE}:{name}")
        for name in names
        for loop in ("custom", "fit")
    }


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trained]:
    """Models with their own train_step, compute_loss or loss weights, which the loops must use."""
    twice = 2 * RunConfig().learning_rate
    fast = RunConfig(**BASE, model=f"{FILE}:plain", learning_rate=twice)
    configs = {**in_both_loops(FIRST), "twice_the_rate": fast}
    return train_together(tmp_path_factory.mktemp("first"), configs)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trained]:
    configs = in_both_loops(OTHERS) | {
        "module": RunConfig(**BASE, model="own_models:plain"),
        "one_custom": RunConfig(**BASE, strategy="one_device", model=f"{FILE}:regularized"),
        "nowhere": RunConfig(**BASE, model="no_such_module:plain"),
        "nameless": RunConfig(**BASE, model="own_models:no_such_function"),
    }
    clipped = {**BASE, "clip_norm": 0.1, "model": f"{FILE}:embedded"}
    configs["embedded"] = RunConfig(**clipped)
    configs["embedded_one"] = RunConfig(**clipped, strategy="one_device")
    configs["explosive"] = RunConfig(**BASE, loop="fit", model=f"{FILE}:explosive")
    high = {**BASE, "learning_rate": 1e18}
    configs["too_high"] = RunConfig(**high, strategy="one_device", model=f"{FILE}:unbounded")
    last = {**BASE, "learning_rate": 1e38, "steps_per_epoch": 1}
    configs["burning"] = RunConfig(**last, model=f"{FILE}:burning")
    many = {**BASE, "synthetic_examples": 64_000}
    for name in ("wide", "on_a_full_disk"):  # the disk stays full, so it is the last
        configs[name] = RunConfig(**many, model=f"{FILE}:{name}")
    return train_together(
        tmp_path_factory.mktemp("own"),
        configs,
        {"PYTHONPATH": os.pathsep.join(map(str, (FILE.parent, ROOT)))},
    )


def same(one: Trained, other: Trained) -> bool:
    return bool(np.allclose(one.losses(), other.losses(), rtol=0, atol=1e-6))


def assert_alike(custom: Trained, fit: Trained) -> None:
    assert custom.status == fit.status == 0, custom.log + fit.log
    assert len(custom.losses()) == 20
    assert same(custom, fit)


@pytest.mark.promise
@pytest.mark.parametrize("name", ["plain", "doubled"])
def test_both_loops_give_the_same_losses(name: str, first: dict[str, Trained]) -> None:
    assert_alike(first[f"{name}-custom"], first[f"{name}-fit"])


@pytest.mark.parametrize("name", OTHERS)
def test_both_loops_give_the_same_losses_for_other_models(
    name: str, runs: dict[str, Trained]
) -> None:
    assert_alike(runs[f"{name}-custom"], runs[f"{name}-fit"])


def test_a_model_named_by_file_trains_as_one_named_by_module(
    first: dict[str, Trained], runs: dict[str, Trained]
) -> None:
    assert "import own_models" not in first["plain-custom"].run.script
    assert "from own_models import plain" in runs["module"].run.script
    assert same(first["plain-custom"], runs["module"])


@pytest.mark.promise
def test_fit_honours_the_train_step_of_the_model(first: dict[str, Trained]) -> None:
    assert same(first["doubled-fit"], first["twice_the_rate"])
    assert not same(first["doubled-fit"], first["plain-fit"])


@pytest.mark.promise
@pytest.mark.parametrize("loop", ["custom", "fit"])
def test_both_loops_honour_loss_weights(loop: str, first: dict[str, Trained]) -> None:
    assert first[f"twice_weighed-{loop}"].status == 0
    ratio = first[f"twice_weighed-{loop}"].losses()[0] / first["plain-fit"].losses()[0]
    assert ratio == pytest.approx(2, rel=1e-5)


@pytest.mark.promise
def test_fit_honours_and_records_the_compute_loss_of_the_model(first: dict[str, Trained]) -> None:
    ratio = first["weighed-fit"].losses()[0] / first["plain-fit"].losses()[0]
    assert ratio == pytest.approx(3, rel=1e-5)


def test_regularisation_counts_once_over_all_replicas(runs: dict[str, Trained]) -> None:
    assert same(runs["regularized-custom"], runs["one_custom"])


def test_gradients_of_an_embedding_are_clipped_and_a_weight_may_have_no_gradient(
    runs: dict[str, Trained],
) -> None:
    assert runs["embedded"].status == runs["embedded_one"].status == 0, runs["embedded"].log
    assert same(runs["embedded"], runs["embedded_one"])


def test_a_missing_module_or_function_is_named(runs: dict[str, Trained]) -> None:
    assert runs["nowhere"].log.strip().endswith("No module named 'no_such_module'")
    assert "cannot import name 'no_such_function' from 'own_models'" in runs["nameless"].log


def test_a_loss_that_is_not_finite_ends_the_run_and_names_step_and_replica(
    runs: dict[str, Trained],
) -> None:
    assert runs["explosive"].status == runs["too_high"].status == 3
    (event,) = runs["explosive"].events("nonfinite")
    assert (event["step"], event["replica"]) == (0, 1)
    (event,) = runs["too_high"].events("nonfinite")
    assert (event["step"] > 0, event["replica"]) == (True, 0)
    assert np.isfinite(runs["too_high"].losses()[: event["step"]]).all()
    assert not np.isfinite(runs["too_high"].losses()[event["step"]])


def test_weights_that_are_not_finite_after_the_last_step_are_not_saved(
    runs: dict[str, Trained],
) -> None:
    run = runs["burning"]
    assert run.status == 3
    assert np.isfinite(run.losses()).all()
    (event,) = run.events("nonfinite")
    assert event["message"] == "The weights were not finite numbers after step 1."
    assert not (run.run.dir / "model.keras").exists()
    assert not list(run.run.dir.glob("checkpoints/*"))


def test_training_continues_on_a_full_disk_and_the_run_names_its_missing_parts(
    runs: dict[str, Trained],
) -> None:
    full, free = runs["on_a_full_disk"], runs["wide"]
    assert full.status == 0, full.log
    lost = {step for first, last in full.run.missing for step in range(first, last + 1)}
    kept = full.run.steps()
    assert lost
    assert lost.isdisjoint(kept["step"])
    assert lost | set(kept["step"]) == set(range(1, 2001))
    np.testing.assert_allclose(kept["loss"], free.losses()[kept["step"] - 1], rtol=0, atol=1e-6)
    for name in ("unrecorded", "checkpoint_failed", "model_not_saved"):
        assert "large" in full.events(name)[0]["error"], name
    assert not (full.run.dir / "model.keras").exists()
    assert full.run.result()["steps"] == 2000
    note = full.run.progress.note
    assert "The checkpoint of step 2,000 could not be saved: " in note
    assert " steps were trained but not recorded completely: " in note
    assert "The trained model could not be saved: " in note
    with pytest.raises(RunError, match=r"no model\.keras\. It could not be saved: .*large"):
        full.run.evaluate()
