"""The inspection of a model before a run: its parts, or why replicas cannot train it."""

from pathlib import Path
from typing import Any

import pytest

from tests.machines import LAPTOP
from workbench.config import Problem, RunConfig
from workbench.plan import PlanError, make_plan
from workbench.runs.programs.inspection import ModelSummary, inspect_model
from workbench.runs.programs.own_data import inspect_data

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("forking")]

ENGINE = Path(__file__).parents[2] / "engine"
OWN = ENGINE / "own_models.py"
IMAGES = ENGINE / "own_images.py"
LABELS = ENGINE / "own_labels.py"
STEPS = ENGINE / "own_steps.py"
FORMS = ENGINE / "own_forms.py"
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
SEQUENCES = """\
import numpy as np
import tensorflow as tf


def load_data():
    def sequences():
        for number in range(64):
            yield np.full((6, 2), number, "float32"), np.float32(number)

    kinds = tf.TensorSpec((None, 2), tf.float32), tf.TensorSpec((), tf.float32)
    examples = tf.data.Dataset.from_generator(sequences, output_signature=kinds)
    return examples, examples


def build_model():
    layers = [
        tf.keras.Input((None, 2)), tf.keras.layers.Conv1D(4, 3),
        tf.keras.layers.GlobalMaxPooling1D(), tf.keras.layers.Dense(1),
    ]
    model = tf.keras.Sequential(layers)
    model.compile("adam", "mse")
    return model
"""
COUNTED = """\
import tensorflow as tf


def build():
    with open("{built}", "a") as file:
        file.write("built\\n")
    model = tf.keras.Sequential([tf.keras.Input([10]), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    return model
"""
HIDDEN = "import importlib\n\nthird = importlib.import_module('keras')\n"
COMPILED = "a tf.keras.Model compiled with its loss"
BUILT = "a function that builds a compiled Keras model in the run's interpreter"
WRONG = {
    "nothing": (COMPILED, "nothing returned NoneType. Return the model."),
    "not_a_model": (COMPILED, "not_a_model returned list. Return the model."),
    "not_compiled": (
        COMPILED, "not_compiled returned a model without a loss. Call model.compile(loss=...)",
    ),
    "wrong_shape": (
        "a model that takes the data", "wrong_shape's, given features of (1, 10) float32: ",
    ),
    "asking": (BUILT, "TypeError: asking() missing 1 required positional argument: 'width'"),
    "leaving": (BUILT, "it ended the process that called it"),
    "frozen": (
        "a model with weights to train",
        "all of frozen's are frozen, or it has none. Set trainable = True",
    ),
    "scalar_loss": (
        "a loss of each example",
        "one_number gives one number for the whole batch, which Keras does not divide",
    ),
    "summed_loss": (
        "losses that are the mean",
        "in_all has the reduction sum, so loss and gradient grow with the batch",
    ),
    "called_loss": (
        "a loss whose class defines call",
        "Called defines __call__, so Keras does not divide the loss by the number",
    ),
}  # fmt: skip
"""Models that cannot be trained, each with the beginning of the rule and of what was got."""
OF_CLASSES = "a model with an output for each class; got"
OF_LABELS = "a model with a loss that fits the labels; got a binary loss"
OUTSIDE = {
    ("own_data_sets.py:pairs", "own_data_sets.py:too_few_outputs"): (
        f"{OF_CLASSES} 2 outputs, and labels from 0 to 2. Number the classes from 0"
    ),
    ("own_labels.py:of_three_classes", "own_labels.py:of_two_classes"): (
        f"{OF_CLASSES} 2 outputs, and labels from 0 to 2 in the first 256. Number the classes from "
        "0"
    ),
    ("own_labels.py:of_two", "own_labels.py:one_output"): (
        f"{OF_CLASSES} 1 output, and labels from 0 to 1 in the first 256. For two classes and one "
        "output choose BinaryCrossentropy"
    ),
    ("own_labels.py:of_three_classes", "own_labels.py:binary"): (
        f"{OF_LABELS}, and labels from 0 to 2 in the first 256. Make the labels 0 and 1"
    ),
    ("own_labels.py:of_two_answers", "own_labels.py:two_answers"): (
        f"{OF_LABELS} of its output good, and labels from 1.0 to 2.0"
    ),
}
"""Data and models of which a label names no output, each with the words of the problem."""
SHORT = {"synthetic_examples": 80, "global_batch_size": 15, "replicas": 3}
"""Sizes whose last batch has 5 examples, so that a replica has one less than the others."""


def inspect(**fields: Any) -> ModelSummary:
    config = RunConfig(**fields)
    return inspect_model(make_plan(config, LAPTOP, inspect_data(config)))


def problems(**fields: Any) -> tuple[Problem, ...]:
    with pytest.raises(PlanError) as raised:
        inspect(**fields)
    return raised.value.problems


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


def test_a_model_is_built_once_for_plans_that_differ_only_in_how_they_train(
    tmp_path: Path,
) -> None:
    built = tmp_path / "built"
    model = tmp_path / "counted.py"
    model.write_text(COUNTED.format(built=built))
    build, workers = f"{model}:build", {"strategy": "multi_worker_mirrored"}
    summaries = [
        inspect(model=build, **fields)
        for fields in (
            {}, {"loop": "fit"}, {"replicas": 4}, {"last_batch": "keep"}, {"global_batch_size": 32},
            {"strategy": "one_device"}, {"strategy": "central_storage"}, {"xla": True}, workers,
        )
    ]  # fmt: skip
    assert built.read_text() == "built\n"
    assert summaries == [summaries[0]] * 9
    inspect(model=build, optimizer="sgd")
    assert built.read_text() == "built\n" * 2


def test_a_model_is_checked_again_after_the_file_of_its_data_changes(tmp_path: Path) -> None:
    data = tmp_path / "counts.py"
    labels = LABELS.read_text()
    fields = {"model": f"{LABELS}:of_two_classes", "global_batch_size": 32}
    data.write_text(labels.replace("[0, 1, 2] * 32", "[0, 1, 1] * 32"))
    assert inspect(data=f"{data}:of_three_classes", **fields).parameters
    data.write_text(labels)
    (problem,) = problems(data=f"{data}:of_three_classes", **fields)
    assert "2 outputs, and labels from 0 to 2" in problem.got


def test_a_models_own_train_step_can_be_neither_clipped_nor_compiled() -> None:
    doubled = {"strategy": "one_device", "model": f"{OWN}:doubled"}
    (clipped,) = problems(**doubled, clip_norm=0.1)
    (compiled,) = problems(**doubled, xla=True)
    assert str(clipped) == (
        "clip_norm must be empty with a model that has its own train_step, which applies its "
        "gradients itself; got 0.1. Clip in the train_step, or leave clip_norm empty."
    )
    assert (compiled.field, compiled.got) == ("xla", "True")
    assert compiled.rule.startswith("off with a model that has its own train_step, because XLA can")
    assert compiled.fix.startswith("Turn xla off and put @tf.function(jit_compile=True) on")
    (compiled,) = problems(**doubled, xla=True, loop="fit")
    assert compiled.field == "xla"


def test_a_models_own_train_step_needs_equal_parts_of_a_short_batch() -> None:
    doubled = {**SHORT, "model": f"{OWN}:doubled"}
    (problem,) = problems(**doubled, last_batch="keep")
    assert problem.field == "last_batch"
    assert problem.rule.startswith("drop or repeat with a model that has its own train_step if")
    assert problem.got == "keep with 5 examples left, split into 2, 2, 1"
    assert problem.fix == "Choose drop or repeat, or another batch size."
    for fields in ({"last_batch": "repeat"}, {"last_batch": "keep", "synthetic_examples": 81}):
        assert inspect(**{**doubled, **fields}).own_train_step


def test_a_train_step_is_enough_for_data_with_nothing_to_test_on() -> None:
    fields = {"model": f"{FORMS}:untested", "global_batch_size": 32}
    assert inspect(**fields, data=f"{FORMS}:features_to_train").own_train_step
    (problem,) = problems(**fields, data=f"{FORMS}:features_alone")
    assert problem.field == "model"
    assert "one with its own train_step only" in problem.got
    assert "return None in place of the data to test on" in problem.fix


def test_what_a_train_step_of_the_model_cannot_do_another_step_can() -> None:
    summary = inspect(**SHORT, model=f"{OWN}:plain", last_batch="keep", clip_norm=0.1)
    assert not summary.own_train_step
    step = f"{STEPS}:timed"
    assert inspect(**SHORT, model=f"{OWN}:doubled", step=step, last_batch="keep").own_train_step


def test_a_model_that_cannot_be_built_is_a_problem_of_the_model_field() -> None:
    (problem,) = problems(model=f"{OWN}:raising")
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


@pytest.mark.parametrize(("data", "model"), OUTSIDE)
def test_labels_without_an_output_are_a_problem_of_the_model_with_its_loss(
    data: str, model: str
) -> None:
    own = {"data": f"{ENGINE / data}", "model": f"{ENGINE / model}"}
    (problem,) = problems(**own, global_batch_size=32)
    assert problem.field == "model"
    assert str(problem).startswith(f"model must be {OUTSIDE[data, model]}")


def test_a_class_that_the_loss_ignores_needs_no_output() -> None:
    model = f"{LABELS}:masked_classifier"
    assert inspect(data=f"{LABELS}:of_masked_class", model=model, global_batch_size=32).parameters


def test_an_error_while_examples_are_read_is_a_problem_of_the_data() -> None:
    model = f"{LABELS}:of_two_classes"
    (problem,) = problems(data=f"{LABELS}:unreadable", model=model, global_batch_size=32)
    assert (problem.field, problem.rule) == (
        "data",
        "examples that can be read in the run's interpreter",
    )
    assert problem.got.endswith("torn : Tensor had NaN values")


def test_a_model_may_take_sequences_whose_length_is_unknown(tmp_path: Path) -> None:
    task = tmp_path / "sequences.py"
    task.write_text(SEQUENCES)
    summary = inspect(data=f"{task}:load_data", model=f"{task}:build_model", global_batch_size=32)
    assert summary.parameters == 3 * 2 * 4 + 4 + 4 + 1


def test_text_that_the_model_cannot_take_has_the_layers_that_turn_it_into_numbers(
    tmp_path: Path,
) -> None:
    data = tmp_path / "words.py"
    data.write_text(WORDS)
    model = f"{OWN}:plain"
    (problem,) = problems(data=f"{data}:load_data", model=model, global_batch_size=32)
    assert "given features of (1, 10) string" in problem.got
    assert "keras.layers.StringLookup" in problem.fix


@pytest.mark.parametrize(
    ("model", "fix"),
    [("importing", "Install the package that has"), ("downloading", "read them from the disk")],
)
def test_a_model_without_its_package_or_its_download_has_the_fix(model: str, fix: str) -> None:
    (problem,) = problems(model=f"{OWN}:{model}")
    assert fix in problem.fix


def test_a_model_that_prints_anything_is_still_inspected() -> None:
    assert inspect(model=f"{OWN}:noisy").parameters == inspect(model=f"{OWN}:plain").parameters


@pytest.mark.parametrize("model", WRONG)
def test_a_model_that_cannot_be_trained_is_a_problem_of_the_model_field(model: str) -> None:
    rule, got = WRONG[model]
    (problem,) = problems(model=f"{OWN}:{model}")
    assert problem.field == "model"
    assert problem.rule.startswith(rule)
    assert f"; got {got}" in str(problem)
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
