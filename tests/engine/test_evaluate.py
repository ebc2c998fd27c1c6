"""The test of a saved model: its losses, right answers, predictions and confusion matrix."""

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.engine.training import Trained, train_together
from workbench.config import RunConfig

pytestmark = pytest.mark.slow

OWN = Path(__file__).parent / "own_models.py"
IMAGES = Path(__file__).parent / "own_images.py"
Runs = Callable[[str], Trained]
Tested = Callable[[str], dict[str, Any]]
FASHION = {
    "data": "fashion_mnist",
    "model": "dense",
    "epochs": 1,
    "steps_per_epoch": 8,
    "global_batch_size": 32,
}


CONFIGS = {
    "dense_custom": RunConfig(**FASHION),
    "dense_fit": RunConfig(**FASHION, loop="fit", pipeline="indexed"),
    "own": RunConfig(model=f"{OWN}:regularized", epochs=1, synthetic_examples=640),
    "few": RunConfig(
        model=f"{OWN}:regularized", epochs=1, synthetic_examples=240, global_batch_size=24
    ),
    "colored": RunConfig(
        data=f"{IMAGES}:load_data", model=f"{IMAGES}:build_model", epochs=1, global_batch_size=32
    ),
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Return a function that gives the run of a config."""

    @functools.cache
    def of(name: str) -> Trained:
        return train_together(tmp_path_factory.mktemp("runs"), {name: CONFIGS[name]})[name]

    return of


@pytest.fixture(scope="module")
def tested(trained: Runs) -> Tested:
    """Return a function that gives the evaluation of a saved model."""
    return functools.cache(lambda name: trained(name).run.evaluate())


def test_both_loops_and_pipelines_give_the_same_losses_on_images(
    trained: Runs,
) -> None:
    custom, fit = trained("dense_custom"), trained("dense_fit")
    assert custom.status == fit.status == 0, custom.log + fit.log
    np.testing.assert_allclose(fit.losses(), custom.losses(), rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", [pytest.param("dense_fit", marks=pytest.mark.promise), "own"])
def test_the_saved_model_gives_the_test_results_of_the_end_of_training(
    name: str, trained: Runs, tested: Tested
) -> None:
    finished, found = trained(name).events("finished")[0], tested(name)
    assert found["test_loss"] == pytest.approx(finished["test_loss"], abs=1e-5)
    assert found["test_accuracy"] == pytest.approx(finished["test_accuracy"], abs=1e-5)
    assert found == json.loads((trained(name).run.dir / "evaluation.json").read_text())
    right = sum(row["accuracy"] * row["examples"] for row in found["classes"])
    assert right / found["test_examples"] == pytest.approx(found["test_accuracy"])


@pytest.mark.promise
def test_predictions_are_saved_with_their_images(trained: Runs, tested: Tested) -> None:
    folder, classes = trained("dense_fit").run.dir, tested("dense_fit")["classes"]
    assert [row["examples"] for row in classes] == [1000] * 10
    assert classes[9]["name"] == "Ankle boot"
    with np.load(folder / "predictions.npz") as shown:
        assert shown["images"].shape == (48, 28, 28)
        assert shown["labels"].shape == shown["answers"].shape == (48,)
        assert ((shown["confidence"] >= 0.1) & (shown["confidence"] <= 1)).all()
        assert (shown["labels"] != shown["answers"])[:16].all()


def test_predictions_of_the_users_color_images_are_saved_with_them(
    trained: Runs, tested: Tested
) -> None:
    assert len(tested("colored")["classes"]) == 2
    with np.load(trained("colored").run.dir / "predictions.npz") as shown:
        assert shown["images"].shape == (32, 16, 16, 3)
        colors = np.where(shown["labels"][:, None] == 0, [255, 0, 0], [0, 0, 255])
        np.testing.assert_array_equal(shown["images"][:, 5, 5], colors)


@pytest.mark.parametrize(
    "name", [pytest.param("dense_fit", marks=pytest.mark.promise), "own", "few"]
)
def test_the_rows_of_the_confusion_matrix_are_the_classes_and_its_diagonal_the_right_answers(
    name: str, tested: Tested
) -> None:
    classes, names = tested(name)["classes"], tested(name)["confusion"]["names"]
    counts = matrix(tested(name))
    assert [row["name"] for row in classes] == names
    assert counts.sum(axis=1).tolist() == [row["examples"] for row in classes]
    right = [row["accuracy"] * row["examples"] for row in classes]
    np.testing.assert_allclose(counts.diagonal(), right)
    assert counts.trace() / counts.sum() == pytest.approx(tested(name)["test_accuracy"])


def test_the_confusion_matrix_counts_the_predictions(trained: Runs, tested: Tested) -> None:
    def kept(name: str) -> np.ndarray:
        counts = np.zeros_like(matrix(tested(name)))
        with np.load(trained(name).run.dir / "predictions.npz") as shown:
            np.add.at(counts, (shown["labels"], shown["answers"]), 1)
        return counts

    assert tested("few")["test_examples"] == 48  # all of them are kept
    np.testing.assert_array_equal(matrix(tested("few")), kept("few"))
    assert (kept("dense_fit") <= matrix(tested("dense_fit"))).all()


def matrix(evaluation: dict[str, Any]) -> np.ndarray:
    """The counts [true class, predicted class] of an evaluation."""
    kept = evaluation["confusion"]
    counts = np.zeros((len(kept["names"]),) * 2, int)
    for true, predicted, examples in kept["pairs"]:
        counts[true, predicted] = examples
    return counts
