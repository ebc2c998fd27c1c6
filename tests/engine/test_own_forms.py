"""Sample weights, data without labels, and models whose steps, losses and optimizers are theirs."""

from pathlib import Path

import numpy as np
import pytest

from tests.engine.training import Trained, train_together, weights
from workbench.config import RunConfig

pytestmark = pytest.mark.slow

FILE = Path(__file__).parent / "own_forms.py"
MODELS = {
    "weighted": "classifier",
    "weighted_datasets": "classifier",
    "features_alone": "autoencoder",
    "datasets_alone": "autoencoder",
    "batches": "autoencoder",
    "sequences": "classifier",
    "generators": "classifier",
}
AS_EXAMPLES = {
    "batches": "datasets_alone",
    "sequences": "weighted_datasets",
    "generators": "weighted_datasets",
}
"""Data in batches, and the same data in single examples."""
SHUFFLED = {"global_batch_size": 36, "steps_per_call": 1, "epochs": 100}
"""An epoch that leaves examples over."""
LONG = {"steps_per_epoch": 500, "steps_per_call": 1, "epochs": 2}


def config(data: str, model: str, **fields: object) -> RunConfig:
    sizes = {"global_batch_size": 32, "epochs": 3}
    return RunConfig(data=f"{FILE}:{data}", model=f"{FILE}:{model}", **{**sizes, **fields})


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trained]:
    configs = {}
    for data, model in MODELS.items():
        configs[f"{data}-custom"] = config(data, model)
        configs[f"{data}-fit"] = config(data, model, loop="fit")
        configs[f"{data}-one"] = config(data, model, strategy="one_device")
    kept = {"last_batch": "keep", "global_batch_size": 36}
    configs |= {
        "counting": config("features_alone", "counting"),
        "kept": config("weighted", "classifier", **kept),
        "kept-one": config("weighted", "classifier", **kept, strategy="one_device"),
        "adversaries": config("features_alone", "adversaries", **LONG),
        "adversaries-fit": config("features_alone", "adversaries", **LONG, loop="fit"),
        "resumed": config("features_alone", "adversaries", **LONG),
        "alone": config("generator_to_train", "classifier"),
        "shuffled": config("shuffled_sequence", "classifier", **SHUFFLED),
        "shuffled-resumed": config("shuffled_sequence", "classifier", **SHUFFLED),
    }
    stopped = ["resumed", "shuffled-resumed"]
    return train_together(tmp_path_factory.mktemp("forms"), configs, stopped=stopped)


def losses(runs: dict[str, Trained], name: str) -> np.ndarray:
    assert runs[name].status == 0, runs[name].log
    return runs[name].losses()


@pytest.mark.parametrize("data", AS_EXAMPLES)
def test_batches_of_any_size_train_as_single_examples(data: str, runs: dict[str, Trained]) -> None:
    examples = f"{AS_EXAMPLES[data]}-custom"
    np.testing.assert_array_equal(losses(runs, f"{data}-custom"), losses(runs, examples))
    found, expected = (runs[each].run.epochs() for each in (f"{data}-custom", examples))
    np.testing.assert_array_equal(found["test_loss"], expected["test_loss"])


def test_a_generator_function_is_itself_data_to_train_on(runs: dict[str, Trained]) -> None:
    np.testing.assert_array_equal(losses(runs, "alone"), losses(runs, "generators-custom"))
    assert runs["alone"].events("test") == []


def test_a_sequence_shuffles_after_each_epoch_also_after_a_stop(runs: dict[str, Trained]) -> None:
    resumed = runs["shuffled-resumed"]
    assert len(resumed.events("stopped")) == 1
    np.testing.assert_array_equal(losses(runs, "shuffled-resumed"), losses(runs, "shuffled"))
    examples = resumed.run.plan.num_train_examples
    assert examples == 320
    assert resumed.run.plan.leftover_examples == 320 - 8 * 36


@pytest.mark.parametrize("data", MODELS)
def test_two_replicas_give_the_losses_of_one_device_in_both_loops(
    data: str, runs: dict[str, Trained]
) -> None:
    one = losses(runs, f"{data}-one")
    assert one[-3:].mean() < one[:3].mean()
    for loop in ("custom", "fit"):
        np.testing.assert_allclose(losses(runs, f"{data}-{loop}"), one, rtol=0, atol=2e-6)


def test_a_short_last_batch_of_weighted_examples_counts_as_on_one_device(
    runs: dict[str, Trained],
) -> None:
    np.testing.assert_allclose(losses(runs, "kept"), losses(runs, "kept-one"), rtol=0, atol=2e-6)


def test_each_metric_of_the_test_is_the_one_of_the_saved_model(runs: dict[str, Trained]) -> None:
    for name in ("weighted-custom", "features_alone-fit"):
        found, ended = runs[name].run.evaluate(), runs[name].run.epochs().iloc[-1]
        assert found["test_loss"] == pytest.approx(ended["test_loss"], abs=1e-5)
        assert found["test_examples"] == 48
    epochs = runs["weighted-custom"].run.epochs()
    assert (epochs["weighted_accuracy"] != epochs["accuracy"]).all()


def test_every_part_of_a_loss_is_recorded_for_each_replica(runs: dict[str, Trained]) -> None:
    rows = runs["features_alone-custom"].run.replica_steps()
    assert len(rows) == 60
    parts = rows["reconstruction"] + rows["divergence"]
    np.testing.assert_allclose(parts, rows["loss"], rtol=1e-5)
    assert rows["accuracy"].isna().all()


def test_a_test_step_may_sum_over_the_replicas(runs: dict[str, Trained]) -> None:
    np.testing.assert_array_equal(losses(runs, "counting"), losses(runs, "features_alone-custom"))


def test_a_model_with_two_optimizers_goes_on_where_it_was_stopped(
    runs: dict[str, Trained],
) -> None:
    whole, resumed = runs["adversaries"], runs["resumed"]
    assert len(resumed.events("stopped")) == 1
    np.testing.assert_array_equal(losses(runs, "resumed"), losses(runs, "adversaries"))
    np.testing.assert_array_equal(weights(resumed.run), weights(whole.run))
    np.testing.assert_allclose(
        losses(runs, "adversaries-fit"), losses(runs, "adversaries"), rtol=0, atol=1e-6
    )
