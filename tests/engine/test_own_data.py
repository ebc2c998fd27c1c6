"""Data of a user for a model of a user: arrays, tables, data sets, several parts."""

from pathlib import Path

import numpy as np
import pytest

from tests.engine.training import Trained, train_together
from workbench.config import RunConfig

pytestmark = pytest.mark.slow

FILE = Path(__file__).parent / "own_data_sets.py"
LABELS = Path(__file__).parent / "own_labels.py"
LOOPS = ("custom", "fit")
MODELS = {"pairs": "classifier", "tables": "classifier", "datasets": "classifier",
          "several": "two_headed"}  # fmt: skip


def config(data: str, model: str, **fields: object) -> RunConfig:
    sizes = {"global_batch_size": 32, "epochs": 8}
    return RunConfig(data=f"{FILE}:{data}", model=f"{FILE}:{model}", **{**sizes, **fields})


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trained]:
    configs = {
        f"{data}-{loop}": config(data, model, loop=loop)
        for data, model in MODELS.items()
        for loop in LOOPS
    }
    configs |= {
        f"{data}-one": config(data, model, strategy="one_device") for data, model in MODELS.items()
    }
    keep = {"last_batch": "keep", "global_batch_size": 36}
    long = {"steps_per_epoch": 500, "steps_per_call": 1, "epochs": 2}
    configs |= {
        "indexed": config("pairs", "classifier", pipeline="indexed"),
        "numpy": config("pairs", "classifier", pipeline="numpy"),
        "cached": config("datasets", "classifier", pipeline="cached"),
        "kept": config("several", "two_headed", **keep),
        "kept-one": config("several", "two_headed", **keep, strategy="one_device"),
        "clipped": config("pairs", "classifier", clip_norm=0.01),
        "clipped-one": config("pairs", "classifier", clip_norm=0.01, strategy="one_device"),
        "adam": config("pairs", "classifier", optimizer="adam"),
        **{
            step: config("pairs", "classifier", step=f"{FILE}:{step}_step")
            for step in ("softmax", "mean", "silent")
        },
        "unknown": config("pairs", "regressor"),
        "unknown-fit": config("pairs", "regressor", loop="fit"),
        "whole": config("datasets", "classifier", **long),
        "resumed": config("datasets", "classifier", **long),
    }
    return train_together(tmp_path_factory.mktemp("own"), configs, stopped=["resumed"])


def losses(runs: dict[str, Trained], name: str) -> np.ndarray:
    assert runs[name].status == 0, runs[name].log
    return runs[name].losses()


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("data", MODELS)
def test_two_replicas_give_the_losses_of_one_device(
    data: str, loop: str, runs: dict[str, Trained]
) -> None:
    two, one = losses(runs, f"{data}-{loop}"), losses(runs, f"{data}-one")
    assert len(two) == 24
    assert two[-3:].mean() < two[:3].mean()
    np.testing.assert_allclose(two, one, rtol=0, atol=2e-6)


@pytest.mark.parametrize("name", ["kept", "clipped"])
def test_short_batches_and_clipped_gradients_are_those_of_one_device(
    name: str, runs: dict[str, Trained]
) -> None:
    np.testing.assert_allclose(losses(runs, name), losses(runs, f"{name}-one"), rtol=0, atol=2e-6)


def test_tables_and_arrays_give_the_same_losses_and_every_pipeline_trains_on_them(
    runs: dict[str, Trained],
) -> None:
    np.testing.assert_array_equal(losses(runs, "tables-custom"), losses(runs, "pairs-custom"))
    np.testing.assert_array_equal(losses(runs, "indexed"), losses(runs, "pairs-custom"))
    assert losses(runs, "numpy")[-1] < losses(runs, "numpy")[0]


def test_a_cached_data_set_keeps_the_order_of_its_first_epoch(runs: dict[str, Trained]) -> None:
    kept, again = losses(runs, "cached"), losses(runs, "datasets-custom")
    np.testing.assert_array_equal(kept[:3], again[:3])
    assert (kept[3:6] != again[3:6]).any()
    assert kept[-3:].mean() < kept[:3].mean()


def test_a_run_on_a_data_set_resumes_where_it_stopped(runs: dict[str, Trained]) -> None:
    assert len(runs["resumed"].events("stopped")) == 1
    np.testing.assert_array_equal(losses(runs, "resumed"), losses(runs, "whole"))


def test_the_model_keeps_its_optimizer_unless_another_is_chosen(runs: dict[str, Trained]) -> None:
    assert "LEARNING_RATE" not in runs["pairs-custom"].run.script
    assert abs(losses(runs, "adam") - losses(runs, "pairs-custom")).max() > 0.01


def test_right_answers_are_counted_if_the_loss_defines_them(
    runs: dict[str, Trained],
) -> None:
    for loop in LOOPS:
        accuracy = runs[f"pairs-{loop}"].run.steps()["accuracy"].to_numpy()
        assert accuracy[-3:].mean() > 0.8
    np.testing.assert_array_equal(
        *(runs[f"pairs-{loop}"].run.steps()["accuracy"].to_numpy() for loop in LOOPS)
    )


def test_a_step_of_the_user_trains_and_its_returned_values_are_recorded(
    runs: dict[str, Trained],
) -> None:
    for name in ("softmax", "mean"):
        np.testing.assert_allclose(losses(runs, name), losses(runs, "pairs-custom"), atol=1e-6)
    own, built_in = (runs[name].run.steps()["accuracy"] for name in ("softmax", "pairs-custom"))
    np.testing.assert_array_equal(own, built_in)
    assert runs["mean"].run.steps()["accuracy"].isna().all()
    assert runs["mean"].run.epochs()["test_accuracy"].notna().all()


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trained]:
    """Runs on data sets of which a late label names no output of the model, or is ignored."""
    sizes = {"global_batch_size": 32, "epochs": 8}
    models = {"of_late_class": "of_two_classes", "of_masked_class": "masked_classifier"}
    configs = {
        data: RunConfig(data=f"{LABELS}:{data}", model=f"{LABELS}:{model}", **sizes)
        for data, model in models.items()
    }
    return train_together(tmp_path_factory.mktemp("labels"), configs)


def test_a_late_label_that_names_no_output_ends_the_run(labelled: dict[str, Trained]) -> None:
    assert labelled["of_late_class"].status == 1
    assert "Received a label value of 2 which is outside the valid" in labelled["of_late_class"].log


def test_a_class_that_the_loss_ignores_needs_no_output(labelled: dict[str, Trained]) -> None:
    trained = labelled["of_masked_class"]
    assert trained.status == 0, trained.log
    assert np.isfinite(trained.losses()).all()


def test_a_step_that_returns_no_loss_is_refused(runs: dict[str, Trained]) -> None:
    assert runs["silent"].status == 1
    assert "silent_step returned NoneType. Return these." in runs["silent"].log


@pytest.mark.parametrize("name", ["unknown", "unknown-fit", "several-custom", "several-fit"])
def test_accuracy_is_unknown_if_the_loss_does_not_define_right_answers(
    name: str, runs: dict[str, Trained]
) -> None:
    run = runs[name].run
    assert np.isfinite(losses(runs, name)).all()
    assert run.steps()["accuracy"].isna().all()
    assert run.epochs()["test_accuracy"].isna().all()
    assert run.epochs()["test_loss"].notna().all()
    assert "NaN" not in (run.dir / "worker-0" / "events.jsonl").read_text()
