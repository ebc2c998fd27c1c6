"""The confusion matrix that is read from an evaluation, and its sentence."""

from typing import Any

from workbench.runs.programs.confusion import Confusion

SHIRTS = {
    "confusion": {
        "names": ["T-shirt/top", "Pullover", "Shirt", "Bag"],
        "pairs": [[0, 0, 900], [0, 2, 100], [1, 1, 1000], [2, 0, 143], [2, 1, 57], [2, 2, 800]],
    }
}
DIGITS = {"confusion": {"names": ["0", "1"], "pairs": [[0, 0, 7], [0, 1, 3], [1, 1, 10]]}}


def read(evaluation: dict[str, Any]) -> Confusion:
    confusion = Confusion.of(evaluation)
    assert confusion is not None
    return confusion


def test_an_evaluation_of_an_earlier_release_has_no_matrix() -> None:
    assert Confusion.of({"test_loss": 0.5, "classes": []}) is None


def test_a_share_is_of_the_tests_of_the_true_class() -> None:
    pair = read(SHIRTS).pairs[3]
    assert (pair.true, pair.predicted, pair.examples, pair.of) == (2, 0, 143, 1000)
    assert pair.share == 0.143
    assert not pair.right


def test_classes_without_tests_and_predictions_are_left_out() -> None:
    assert read(SHIRTS).classes == [0, 1, 2]


def test_the_largest_confusions_are_in_a_sentence() -> None:
    assert read(SHIRTS).summary() == (
        "Shirt is taken for T-shirt/top in 143 of 1,000 tests, "
        "T-shirt/top for Shirt in 100 of 1,000 and Shirt for Pullover in 57 of 1,000."
    )
    assert read(SHIRTS).summary(most=1) == ("Shirt is taken for T-shirt/top in 143 of 1,000 tests.")


def test_a_class_that_has_only_a_number_is_called_a_class() -> None:
    assert read(DIGITS).summary() == "Class 0 is taken for class 1 in 3 of 10 tests."


def test_a_model_without_mistakes_has_no_confusion() -> None:
    perfect = {"confusion": {"names": ["0", "1"], "pairs": [[0, 0, 10], [1, 1, 10]]}}
    assert read(perfect).mistakes == []
    assert read(perfect).summary() == "No class is taken for another one."
