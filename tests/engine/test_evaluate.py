"""Programs about a model beside training: the test of a saved model, and its inspection."""

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.engine.training import Trained, train_together
from tests.machines import LAPTOP
from workbench.config import RunConfig
from workbench.plan import PlanError, make_plan
from workbench.runs.programs.inspection import ModelSummary, inspect_model
from workbench.runs.programs.own_data import inspect_data

pytestmark = pytest.mark.slow

OWN = Path(__file__).parent / "own_models.py"
IMAGES = Path(__file__).parent / "own_images.py"
LABELS = Path(__file__).parent / "own_labels.py"
ONCE = """\
import pathlib

import numpy as np


def once():
    first = pathlib.Path("{first}")
    first.unlink()
    images, labels = np.zeros((64, 16, 16, 3)), np.zeros(64, int)
    return (images, labels), (images, labels)
"""
WORDS = """\
import numpy as np


def load_data():
    words, labels = np.full((64, 10), "word"), np.zeros((64, 1))
    return (words, labels), (words, labels)
"""
Runs = Callable[[str], Trained]
Tested = Callable[[str], dict[str, Any]]
HIDDEN = "import importlib\n\nthird = importlib.import_module('keras')\n"
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


def inspect(**fields: object) -> ModelSummary:
    return inspect_model(make_plan(RunConfig(**fields), LAPTOP))


@pytest.mark.promise
def test_the_summary_of_a_model_has_its_layers_parameters_and_bytes() -> None:
    summary = inspect(data="fashion_mnist", model="dense")
    assert [layer[1:] for layer in summary.layers] == [
        ("Flatten", "(784,)", 0),
        ("Dense", "(128,)", 784 * 128 + 128),
        ("Dense", "(10,)", 128 * 10 + 10),
    ]
    parameters = 784 * 128 + 128 + 128 * 10 + 10
    assert summary.parameters == summary.trainable_parameters == parameters
    assert summary.weight_bytes == summary.gradient_bytes_per_step == 4 * parameters
    assert 8 * parameters <= summary.optimizer_bytes <= 8 * parameters + 64  # Adam keeps two
    assert summary.replica_bytes == summary.weight_bytes + summary.optimizer_bytes


def test_weights_that_are_not_trained_have_no_gradients_to_reduce() -> None:
    summary = inspect(model=f"{OWN}:normalized", optimizer="sgd")
    assert summary.parameters - summary.trainable_parameters == 2 * 8
    assert summary.gradient_bytes_per_step == 4 * summary.trainable_parameters


def test_an_imported_model_is_inspected_again_after_its_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    module = tmp_path / "widths.py"
    source = OWN.read_text()
    module.write_text(source)
    before = inspect(model="widths:plain")
    module.write_text(source.replace("width=8", "width=9"))
    after = inspect(model="widths:plain")
    assert (before.parameters, after.parameters) == (10 * 8 + 8 + 8 + 1, 10 * 9 + 9 + 9 + 1)


def test_a_model_that_cannot_be_built_is_a_problem_of_the_model_field() -> None:
    with pytest.raises(PlanError) as raised:
        inspect(model=f"{OWN}:raising")
    (problem,) = raised.value.problems
    assert problem.field == "model"
    assert problem.got.startswith(f"ValueError: no such width: -1 ({OWN}, line ")
    assert problem.got.endswith(', in raising: raise ValueError("no such width: -1"))')
    assert problem.fix == "Fix this error in your code."


def test_an_error_of_the_data_is_no_problem_of_the_model(tmp_path: Path) -> None:
    first = tmp_path / "first"
    data = tmp_path / "twice.py"
    data.write_text(ONCE.format(first=first))
    first.touch()
    config = RunConfig(data=f"{data}:once", model=f"{IMAGES}:build_model", global_batch_size=32)
    plan = make_plan(config, LAPTOP, inspect_data(config))
    with pytest.raises(PlanError) as raised:
        inspect_model(plan)
    (problem,) = raised.value.problems
    assert problem.field == "data"
    assert f"({data}, line 8, in once: first.unlink())" in problem.got


def test_labels_without_an_output_are_a_problem_of_the_model_with_its_loss() -> None:
    config = RunConfig(data=f"{LABELS}:of_two", model=f"{LABELS}:one_output", global_batch_size=32)
    with pytest.raises(PlanError) as raised:
        inspect_model(make_plan(config, LAPTOP, inspect_data(config)))
    (problem,) = raised.value.problems
    assert (problem.field, problem.rule) == ("model", "a model with an output for each class")
    assert problem.got == "1 output, and labels from 0 to 1 in the first 256"
    assert "BinaryCrossentropy" in problem.fix


def test_text_that_the_model_cannot_take_has_the_layers_that_turn_it_into_numbers(
    tmp_path: Path,
) -> None:
    data = tmp_path / "words.py"
    data.write_text(WORDS)
    config = RunConfig(data=f"{data}:load_data", model=f"{OWN}:plain", global_batch_size=32)
    with pytest.raises(PlanError) as raised:
        inspect_model(make_plan(config, LAPTOP, inspect_data(config)))
    (problem,) = raised.value.problems
    assert "given features of (1, 10) string" in problem.got
    assert "keras.layers.StringLookup" in problem.fix


@pytest.mark.parametrize(
    ("model", "fix"),
    [("importing", "Install the package that has"), ("downloading", "read them from the disk")],
)
def test_a_model_without_its_package_or_its_download_has_the_fix(model: str, fix: str) -> None:
    with pytest.raises(PlanError) as raised:
        inspect(model=f"{OWN}:{model}")
    (problem,) = raised.value.problems
    assert fix in problem.fix


def test_a_model_that_prints_anything_is_still_inspected() -> None:
    assert inspect(model=f"{OWN}:noisy").parameters == inspect(model=f"{OWN}:plain").parameters


@pytest.mark.parametrize(
    ("model", "rule", "got"),
    [
        ("leaving", "a function that builds", "it ended the process that called it"),
        ("frozen", "a model with weights to train", "all of frozen's are frozen, or it has none"),
        ("scalar_loss", "a loss of each example", "one_number gives one number for the whole"),
        ("summed_loss", "losses that are the mean", "in_all has the reduction sum"),
        ("called_loss", "a loss whose class defines call", "Called defines __call__, so"),
    ],
)
def test_a_model_that_cannot_be_trained_is_a_problem_of_the_model_field(
    model: str, rule: str, got: str
) -> None:
    with pytest.raises(PlanError) as raised:
        inspect(model=f"{OWN}:{model}")
    (problem,) = raised.value.problems
    assert problem.field == "model"
    assert problem.rule.startswith(rule)
    assert problem.got.startswith(got)
    assert problem.fix


def test_a_model_of_keras_3_is_refused_if_tf_keras_is_legacy_keras(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = OWN.read_text().replace(
        "import tensorflow as tf", "import tensorflow as tf\n" + HIDDEN
    )
    (tmp_path / "hidden.py").write_text(source.replace("tf.keras", "third"))
    fields = {"strategy": "parameter_server", "loop": "fit"}
    for model in ("hidden:plain", "hidden:normalized"):
        with pytest.raises(PlanError, match="a model of Keras 3, but"):
            inspect(**fields, model=model)
    assert inspect(model="hidden:plain").parameters == inspect(model=f"{OWN}:plain").parameters


def test_an_interpreter_that_does_not_exist_is_a_problem_of_the_plan(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="No such file"):
        inspect(interpreter=str(tmp_path / "python"))
