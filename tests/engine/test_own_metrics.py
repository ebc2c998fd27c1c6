"""Metrics of a compiled model of a user, recorded beside loss and accuracy."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.engine.own_metrics import TRAIN, load_data
from tests.engine.tasks import run_workers
from tests.engine.training import Trained, train_together, weights, write_run
from workbench.config import RunConfig

pytestmark = pytest.mark.slow

FILE = Path(__file__).parent / "own_metrics.py"
TOGETHER = Path(__file__).parent / "workers_together.py"
NAMES = ["kind_accuracy", "kind_auc", "size_mae"]


def config(**fields: Any) -> RunConfig:
    names = {"data": f"{FILE}:load_data", "model": f"{FILE}:two_outputs"}
    return RunConfig(**{**names, "global_batch_size": 30, "epochs": 2, **fields})


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trained]:
    configs = {f"mirrored-{loop}": config(loop=loop) for loop in ("custom", "fit")}
    configs |= {"kept": config(last_batch="keep", global_batch_size=32)}
    hits = {"data": f"{FILE}:load_kinds", "model": f"{FILE}:hits"}
    configs |= {"hits": config(**hits), "silent": config(**hits, step=f"{FILE}:silent_step")}
    long = {"steps_per_epoch": 500, "steps_per_call": 1}
    for loop in ("custom", "fit"):
        configs |= {f"{how}-{loop}": config(**long, loop=loop) for how in ("whole", "resumed")}
    configs |= {
        f"one-{loop}": config(strategy="one_device", loop=loop) for loop in ("custom", "fit")
    }
    many = {"data": f"{FILE}:load_many_tests", "steps_per_call": 1, "epochs": 1}
    configs |= {f"{how}-test": config(**many) for how in ("whole", "resumed")}
    configs["odd"] = config(**hits | {"model": f"{FILE}:odd"})
    resumed = [f"resumed-{loop}" for loop in ("custom", "fit")]
    root = tmp_path_factory.mktemp("own")
    return train_together(root, configs, stopped=resumed, stopped_in_test=["resumed-test"])


def epochs(runs: dict[str, Trained], name: str) -> pd.DataFrame:
    assert runs[name].status == 0, runs[name].log
    return runs[name].run.epochs()


def test_metrics_of_the_test_equal_those_computed_from_the_saved_model(
    runs: dict[str, Trained],
) -> None:
    _, (features, labels) = load_data()
    flat = weights(runs["mirrored-custom"].run)
    kind, (kind_bias,), size, (size_bias,) = np.split(flat, [6, 7, 13])
    score, answer = features @ kind + kind_bias, labels["kind"] == 1
    last_epoch = epochs(runs, "mirrored-custom").iloc[-1]
    assert last_epoch["test_kind_accuracy"] == pytest.approx(
        ((score > 0) == answer).mean(), abs=1e-6
    )
    error = np.abs(features @ size + size_bias - labels["size"][:, 0]).mean()
    assert last_epoch["test_size_mae"] == pytest.approx(error, rel=1e-5)
    above = np.mean(score[answer][:, None] > score[~answer][None])
    assert last_epoch["test_kind_auc"] == pytest.approx(above, abs=0.01)  # with 200 thresholds


@pytest.mark.parametrize("name", ["mirrored-custom", "mirrored-fit", "one-fit"])
def test_replicas_and_loops_give_the_same_metrics(name: str, runs: dict[str, Trained]) -> None:
    columns = [*NAMES, *(f"test_{metric}" for metric in NAMES)]
    found, one = epochs(runs, name), epochs(runs, "one-custom")
    assert found["steps"].tolist() == [TRAIN // 30] * 2
    assert found[columns].notna().to_numpy().all()
    np.testing.assert_allclose(found[columns], one[columns], rtol=0, atol=2e-5)


def test_the_metrics_of_an_interrupted_epoch_count_all_its_steps(
    runs: dict[str, Trained],
) -> None:
    whole, resumed = (epochs(runs, f"{how}-custom") for how in ("whole", "resumed"))
    assert len(runs["resumed-custom"].events("stopped")) == 1
    np.testing.assert_array_equal(resumed[NAMES], whole[NAMES])


def test_of_an_epoch_in_two_parts_the_means_are_known_but_not_what_fit_has_counted(
    runs: dict[str, Trained],
) -> None:
    whole, resumed = (epochs(runs, f"{how}-fit") for how in ("whole", "resumed"))
    (stop,) = runs["resumed-fit"].events("stopped")
    parted = resumed["epoch"] == stop["step"] // 500 + 1
    assert resumed["kind_auc"][parted].isna().all()
    means = [name for name in NAMES if name != "kind_auc"]
    np.testing.assert_allclose(resumed[means][parted], whole[means][parted], rtol=1e-5)
    np.testing.assert_array_equal(resumed[NAMES][~parted], whole[NAMES][~parted])
    tested = [f"test_{name}" for name in NAMES]
    np.testing.assert_array_equal(resumed[tested], whole[tested])


def test_an_interrupted_test_pass_changes_no_metric_of_training_or_test(
    runs: dict[str, Trained],
) -> None:
    whole, resumed = (epochs(runs, f"{how}-test") for how in ("whole", "resumed"))
    (stop,) = runs["resumed-test"].events("stopped")
    assert stop["step"] == TRAIN // 30
    columns = [*NAMES, *(f"test_{metric}" for metric in NAMES)]
    np.testing.assert_array_equal(resumed[columns], whole[columns])


def test_metrics_of_every_kind_are_recorded_if_they_are_numbers(
    runs: dict[str, Trained],
) -> None:
    found = epochs(runs, "odd")
    (last,) = runs["odd"].events("epoch")[-1:]
    names = {"none", "spread_mean", "spread_by_sign_above", "outputs_mean"}
    assert set(last["metrics"]) == names | {f"test_{name}" for name in names}
    assert found["none"].tolist() == found["test_none"].tolist() == [0, 0]
    assert found["outputs_mean"].tolist() == found["test_outputs_mean"].tolist() == [1, 1]


def test_workers_save_together_although_their_clocks_differ(
    tmp_path: Path, runs: dict[str, Trained]
) -> None:
    fields = config(strategy="multi_worker_mirrored", steps_per_call=1)
    trained = write_run(tmp_path, "workers", fields)
    run_workers([TOGETHER, f"{trained.run.dir}:often"], tmp_path)
    saved = [event["step"] for event in trained.events("checkpoint")]
    assert saved[0] < TRAIN // 30
    found, one = trained.run.epochs(), epochs(runs, "one-custom")
    columns = [*NAMES, *(f"test_{metric}" for metric in NAMES)]
    np.testing.assert_allclose(found[columns], one[columns], rtol=0, atol=2e-5)


def test_metrics_weight_short_batches_by_their_examples(runs: dict[str, Trained]) -> None:
    right = epochs(runs, "kept")["kind_accuracy"].to_numpy() * TRAIN
    np.testing.assert_allclose(right, right.round(), rtol=0, atol=1e-3)


def test_the_accuracy_that_the_model_measures_is_that_of_its_steps(
    runs: dict[str, Trained],
) -> None:
    found, steps = epochs(runs, "hits"), runs["hits"].run.steps()
    for phase in ("", "test_"):
        measured = found[f"{phase}binary_accuracy"]
        np.testing.assert_allclose(found[f"{phase}accuracy"], measured, rtol=1e-5)
    by_step = steps["accuracy"].to_numpy().reshape(2, -1).mean(axis=1)
    np.testing.assert_allclose(found["accuracy"], by_step, rtol=1e-5)


def test_a_metric_that_received_no_outputs_is_unknown(runs: dict[str, Trained]) -> None:
    found = epochs(runs, "silent")
    assert found["binary_accuracy"].isna().all()
    assert found["test_binary_accuracy"].between(0, 1).all()
