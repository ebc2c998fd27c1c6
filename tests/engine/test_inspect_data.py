"""The inspection of a data function of a user: its facts, or a refusal with the reason."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.forked import run_program
from workbench.config import RunConfig
from workbench.plan import PlanError, Problem
from workbench.runs.programs.own_data import inspect_data

HERE = Path(__file__).parent
RETURN = "Write: return (x_train, y_train), (x_test, y_test)"
RETURNS = "returns data to train on, and to test on if there is any"
FACTS = {
    "pairs": ("arrays", 96, 32, "features (10,) float32, labels () int64", 48),
    "tables": ("arrays", 96, 32, "features (10,) float32, labels () int64", 48),
    "weighted": ("arrays", 96, 32,
                 "features (10,) float32, labels () int64, weights () float32", 52),
    "weighted_datasets": ("dataset", 96, 32,
                          "features (10,) float64, labels () int64, weights () float64", 96),
    "features_alone": ("arrays", 96, 32, "features (10,) float32", 40),
    "features_in_tuples": ("arrays", 32, 32, "features (10,) float32", 40),
    "unlabelled": ("dataset", 96, 32, "features (10,) float64", 80),
    "several": ("arrays", 96, 32, "features {wide: (6,) float32, deep: (4,) float32}, "
                "labels (() int64, (1,) float32)", 52),
    "words": ("arrays", 32, 8, "features () string, labels () bool", 0),
    "datasets": ("dataset", 96, 32, "features (10,) float64, labels () int64", 88),
    "unbatched": ("dataset", 96, 32, "features (10,) float64, labels () int64", 88),
    "interleaved_examples": ("dataset", 32, 32, "features (10,) float64, labels () int64", 88),
    "windows": ("dataset", 20, 20, "features (4,) int64, labels (4,) int64", 64),
    "rows_with_next": ("dataset", 6, 6, "features (3,) int64, labels () int64", 32),
    "batched": ("dataset", 96, 32, "features (10,) float64, labels () int64", 88),
    "batches_alone": ("dataset", 96, 0, "features (10,) float64, labels () int64", 88),
    "batches_of_unknown_size": ("dataset", 67, 0, "features (10,) float64, labels () int64", 88),
    "sequences": ("dataset", 96, 32, "features (10,) float32, labels () int64", 48),
    "sequence_of_uneven_batches": ("dataset", 96, 0, "features (10,) float32, labels () int64", 48),
    "slow_sequence": ("dataset", 96, 0, "features (10,) float32, labels () int64", 48),
    "generated_with_none": (
        "dataset", 96, 0, "features ((6,) float32, (4,) float32), labels () int64", 48
    ),
    "features_in_lists": ("dataset", 96, 0, "features (10,) float32", 40),
    "generators": ("dataset", 96, 32, "features (10,) float32, labels () int64", 48),
    "generated": ("dataset", 96, 0, "features (10,) float32, labels () int64", 48),
    "interleaved": ("dataset", 64, 64, "features (10,) float32, labels () float32", 44),
    "mapped_flat": ("dataset", 192, 64, "features (10,) float64, labels () int64", 88),
    "sampled": ("dataset", 192, 32, "features (10,) float64, labels () int64", 88),
    "one_part": ("arrays", 96, 0, "features (10,) float32, labels () int64", 48),
    "one_part_and_none": ("arrays", 96, 0, "features (10,) float32, labels () int64", 48),
    "one_weighted_part": ("arrays", 96, 0,
                          "features (10,) float32, labels () int64, weights () float32", 52),
    "weights_of_labels": ("arrays", 96, 0, "features (10,) float32, labels (2,) int64, "
                          "weights (2,) float32", 64),
    "one_array": ("arrays", 96, 0, "features (10,) float32", 40),
    "tables_of_one_length": ("arrays", 32, 0,
                             "features {wide: (10,) float32}, labels {kind: () int64}", 48),
    "one_table": ("arrays", 32, 0, "features {id: () int64, wide: (6,) float32}", 32),
    "labels_of_tables": ("arrays", 32, 0,
                         "features {id: () int64, wide: (6,) float32}, labels () int64", 40),
    "one_dataset": ("dataset", 96, 0, "features (10,) float64, labels () int64", 88),
    "one_dataset_and_none": ("dataset", 96, 0, "features (10,) float64, labels () int64", 88),
}  # fmt: skip
WRONG = {
    "half_batched": ("batches to train on and to test on", "(None, 10) float64", "Leave the batch"),
    "endless": ("a data set that ends, to train on", "an endless one", "Leave its repeat out"),
    "endless_unknown": ("that ends", "examples, still being read", "assert_cardinality(n)"),
    "endless_batches": (
        "that ends",
        "examples, still being read",
        "dataset.unbatch().apply(tf.data.experimental.assert_cardinality(n))",
    ),
    "endless_in_batches": ("that ends, to train on", "an endless one", "Leave its repeat out"),
    "padded_apart": ("to train on have one shape", "(4,), () and (8,), ()", "Pad, crop or resize"),
    "sequence_of_single_examples": (
        "a keras.utils.PyDataset of batches, to train on",
        "arrays of (10,) and ()",
        "a single example is a batch as x[None], y[None]",
    ),
    "generated_one_by_one": (
        "a generator of batches, to train on",
        "arrays of (10,) and ()",
        "a single example is a batch as x[None], y[None]",
    ),
    "generated_endlessly": ("that ends, to train on", "still being read", "End its loop after one"),
    "generated_of_two_shapes": (
        "read to its end",
        "TypeError: `generator` yielded an element of shape (8, 5) where an element of shape "
        "(None, 4) was expected",
        "Pad, crop or resize",
    ),
    "none_for_labels": ("(features, labels) to train on", "None in place", "Leave it out"),
    "generated_unlike": ("of one number of examples", "95 and 96", "Give as many labels"),
    "generated_nothing": ("a generator with at least one batch", "an empty one", "Fill it."),
    "empty_sequence": ("PyDataset with at least one batch", "an empty one", "Fill it."),
    "sequence_of_two_shapes": (
        "a keras.utils.PyDataset whose examples have one shape",
        "batches of (4,), () and (5,), ()",
        "Pad, crop or resize",
    ),
    "sequence_and_arrays": ("two parts of one form", "Rows and tuple", "in the same form"),
    "raising_sequence": (
        "a keras.utils.PyDataset whose batches can be read, to train on",
        "FileNotFoundError: no such folder: /data/0",
        "in your code",
    ),
    "raising_generator": ("read to its end", "the second file is damaged", "in your code"),
    "empty_test": ("at least one example, to test on", "an empty one", "or return None in its"),
    "empty_test_arrays": ("above 0, to test on", "0", "Fill it, or return None in its place."),
    "several_inputs_bare": (
        RETURNS,
        "2 values: tuple, ndarray (96,)",
        "Several inputs are one part: ((x1, x2), y).",
    ),
    "pair_with_more_features": (RETURNS, "3 values: ndarray (32, 10), ndarray (32,), nd", RETURN),
    "empty": ("at least one example, to train on", "an empty one", "Fill it."),
    "distributed": ("not distributed yet", "Dataset", "Return the tf.data.Dataset itself"),
    "uneven": ("one number of examples", "95 and 96", "Give as many labels as features."),
    "features_of_one_size": (
        RETURNS,
        "2 values: ndarray (32, 10), ndarray (32, 10)",
        "For features alone: (x_train,), (x_test,)",
    ),
    "one_pair_of_lists": (
        RETURNS,
        "2 values: ndarray (96, 10), ndarray (96,)",
        "return (x_train, y_train), None",
    ),
    "list_and_none": (RETURNS, "2 values: list, nothing", "return (x_train, y_train), None"),
    "datasets_and_none": (RETURNS, "2 values: tuple, nothing", "return two tf.data.Datasets"),
    "wrapped": (RETURNS, "1 value: tuple", "With nothing to test on: return"),
    "negative_weights": ("sample weights of 0 or more", "-0.5", "0 leaves its loss out"),
    "infinite_weights": ("sample weights of 0 or more", "not finite", "0 leaves its loss out"),
    "weights_in_words": ("weights are numbers", "weights that are text", "Turn them into numbers"),
    "four_parts": (RETURNS, "4 values: ndarray (96, 10), ndarray (96,), nd", RETURN),
    "pair_before_none": (RETURNS, "3 values: ndarray (96, 10), ndarray (96,), nothing", RETURN),
    "unreturned": (RETURNS, "nothing", RETURN),
    "named": (
        "labels are numbers",
        "text (() string), such as 'setosa', 'virginica', 'versicolor'",
        "mapping such as {'setosa': 0, 'virginica': 1, 'versicolor': 2}",
    ),
    "named_in_part": (
        "labels are numbers",
        "text ({count: () int64, kind: () string}), such as 'setosa', 'virginica'",
        "keras.layers.StringLookup",
    ),
    "ragged": ("numbers or text", "rows of different lengths", "a type of its own"),
    "listed": (RETURNS, "2 values: list, list", RETURN),
    "otherwise_shaped": ("like those to train on", "beside features (5,)", "in the same way"),
    "raising": ("in the run's interpreter", "FileNotFoundError: no such folder", "in your code"),
    "asking": ("that can be called", "TypeError: asking() missing 1", "Fix this error"),
    "downloading": ("that can be called", "ConnectionRefusedError", "read them from the disk"),
    "importing": ("packages the run's interpreter has", "no_such_package", "-m pip install"),
    "sized_apart": ("read to its end", "InvalidArgumentError", "Pad, crop or resize"),
    "without_files": ("read to its end", "NotFoundError", "Fix the path"),
    "dated": ("numbers or text", "an array of datetime64[D]", "Turn them into numbers"),
}


BROKEN = """\
def load():
    return labels_of({"size": 1})


def labels_of(table):
    return table["kind"]
"""


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    right = [f"own_data_sets:{name}" for name in (*FACTS, "filtered")]
    wrong = [f"wrong_data_sets:{name}" for name in WRONG]
    done = run_program([HERE / "inspect_data_sets.py", *right, *wrong])
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize("name", FACTS)
def test_an_inspection_finds_the_kind_and_sizes_of_a_data_set(
    name: str, found: dict[str, Any]
) -> None:
    facts = found[name]["facts"]
    parts = ("kind", "train_examples", "test_examples", "example", "example_bytes")
    assert tuple(facts[part] for part in parts) == FACTS[name]


def test_batches_are_told_from_single_examples(found: dict[str, Any]) -> None:
    batched = {name for name in FACTS if found[name]["facts"].get("given") == "batches"}
    assert batched == {
        "batched",
        "batches_alone",
        "batches_of_unknown_size",
        "interleaved",
        "mapped_flat",
        "sampled",
    }


def test_batches_of_python_are_told_from_data_sets(found: dict[str, Any]) -> None:
    for given, names in {
        "sequences": {
            "sequences",
            "sequence_of_uneven_batches",
            "slow_sequence",
            "features_in_lists",
        },
        "generators": {"generators", "generated", "generated_with_none"},
    }.items():
        assert names == {name for name in FACTS if found[name]["facts"].get("given") == given}


def test_a_data_set_of_unknown_size_is_counted(found: dict[str, Any]) -> None:
    assert 0 < found["filtered"]["facts"]["train_examples"] < 96
    assert found["filtered"]["facts"]["test_examples"] == 32


@pytest.mark.parametrize("name", WRONG)
def test_data_that_cannot_be_trained_on_are_refused_with_a_fix(
    name: str, found: dict[str, Any]
) -> None:
    problem = found[name]["problem"]
    for text, part in zip(
        (problem["rule"], problem["got"], problem["fix"]), WRONG[name], strict=True
    ):
        assert part in text


def test_every_data_set_of_both_files_is_inspected() -> None:
    assert defined_in("wrong_data_sets.py") == set(WRONG)
    models = {"classifier", "regressor", "two_headed", "too_few_outputs"}
    models |= {f"{step}_step" for step in ("softmax", "mean", "silent")}
    others = {"filtered", "arrays", "one_broken", *models}
    assert defined_in("own_data_sets.py") == {*FACTS, *others}


def defined_in(file: str) -> set[str]:
    lines = (HERE / file).read_text().splitlines()
    return {line.split("(")[0][4:] for line in lines if line.startswith("def ")}


@pytest.mark.parametrize("address", ["broken.py:load", "broken:load"])
def test_an_error_of_the_function_names_its_file_and_line(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken.py").write_text(BROKEN)
    monkeypatch.chdir(tmp_path)
    got = refused(address).got
    assert got.startswith("KeyError: 'kind' (")
    assert got.endswith('broken.py, line 6, in labels_of: return table["kind"])')


@pytest.mark.parametrize("address", ["early.py:load", "early:load"])
def test_an_error_of_the_file_names_its_line(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "early.py").write_text("\nsize = {}['size']\n\n\ndef load():\n    return 1\n")
    monkeypatch.chdir(tmp_path)
    problem = refused(address)
    assert problem.rule == "code that can be imported in the run's interpreter"
    assert problem.got.endswith("early.py, line 2: size = {}['size'])")


def test_a_missing_module_of_the_user_is_no_package_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert refused("my_data:load").fix == (
        f"It is neither in {tmp_path} nor installed. Name its file: path/to/my_data.py:load."
    )
    (tmp_path / "my_data.py").write_text("")
    assert refused("my_data:load").rule == "a function of my_data"


def refused(address: str) -> Problem:
    with pytest.raises(PlanError) as raised:
        inspect_data(RunConfig(data=address))
    (problem,) = raised.value.problems
    return problem


def test_a_package_that_the_interpreter_lacks_is_named(tmp_path: Path) -> None:
    (tmp_path / "lacking.py").write_text("import no_such_package\n\n\ndef load():\n    return 1\n")
    with pytest.raises(PlanError, match="No module named 'no_such_package'") as raised:
        inspect_data(RunConfig(data=f"{tmp_path / 'lacking.py'}:load"))
    (problem,) = raised.value.problems
    assert f"Run {sys.executable} -m pip install" in problem.fix
