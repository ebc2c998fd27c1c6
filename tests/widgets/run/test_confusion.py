"""The confusion matrix as a table with headers, and the list that replaces a table too large."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from tests.widgets.folders import write_model, write_run
from workbench.widgets.run.confusion import MOST_CLASSES, MOST_LISTED, confusion_view
from workbench.widgets.run.predictions import Predictions

NAMES = ["T-shirt/top", "<Pullover>", "Shirt"]
COUNTS = [[900, 0, 100], [0, 1000, 0], [143, 57, 800]]


def evaluation(names: list[str], counts: Any) -> dict[str, Any]:
    """An evaluation with these counts [true class, predicted class]."""
    counts = np.array(counts)
    examples = counts.sum(axis=1)
    classes = [
        {"name": name, "examples": int(examples[at]), "accuracy": counts[at, at] / examples[at]}
        for at, name in enumerate(names)
    ]
    pairs = [[int(a), int(b), int(counts[a, b])] for a, b in np.argwhere(counts)]
    confusion = {"names": names, "pairs": pairs}
    return {"test_loss": 0.5, "test_accuracy": 0.9, "classes": classes, "confusion": confusion}


@pytest.fixture(scope="module")
def shown() -> ElementTree.Element:
    view = confusion_view(evaluation(NAMES, COUNTS))
    return ElementTree.fromstring(f"<div>{view}</div>")


def sentences(shown: ElementTree.Element, kind: str) -> list[str | None]:
    return [each.text for each in shown.iterfind(f".//span[@class='wb-exact wb-of-{kind}']")]


def test_rows_are_true_classes_and_columns_predicted_classes(shown: ElementTree.Element) -> None:
    assert [each.text for each in shown.iterfind(".//thead//th[@scope='col']")] == [
        *("True class", *NAMES)
    ]
    rows = shown.findall(".//tbody/tr")
    assert [row.findtext("th[@scope='row']") for row in rows] == NAMES
    assert [[cell.text for cell in row.iterfind("td")] for row in rows] == [
        ["900", "0", "100"],
        ["0", "1,000", "0"],
        ["143", "57", "800"],
    ]


def test_the_shade_is_the_share_of_the_row(shown: ElementTree.Element) -> None:
    cells = shown.findall(".//tbody/tr[3]/td")
    shades = [float(cell.attrib["style"].split(",")[-1].rstrip(" )")) for cell in cells]
    shares = np.array(COUNTS[2]) / 1000
    np.testing.assert_allclose(np.square(shades) / shades[2] ** 2, shares / shares[2], atol=0.01)
    assert "style" not in shown.findall(".//tbody/tr[1]/td")[1].attrib


def test_the_largest_confusions_are_said(shown: ElementTree.Element) -> None:
    said = shown.findtext("div[@class='wb-about']")
    assert said is not None
    assert said.startswith("Shirt is taken for T-shirt/top in 143 of 1,000 tests, T-shirt/top for")


def test_a_cell_and_a_row_have_their_exact_shares(shown: ElementTree.Element) -> None:
    of_cells = sentences(shown, "cell")
    assert len(of_cells) == 6
    assert "Shirt is taken for T-shirt/top in 143 of 1,000 tests, 14.30%." in of_cells
    assert "Shirt is recognized in 800 of 1,000 tests, 80.00%." in of_cells
    assert sentences(shown, "row")[2] == (
        "Shirt, 1,000 tests: right 800 (80.00%), T-shirt/top 143 (14.30%), <Pullover> 57 (5.70%)."
    )


def test_the_names_of_the_rows_take_the_focus(shown: ElementTree.Element) -> None:
    focusable = [each for each in shown.iter() if each.get("tabindex") == "0"]
    assert [each.tag for each in focusable] == ["div", "th", "th", "th"]
    assert focusable[0].attrib["role"] == "region"


def test_a_predicted_class_without_tests_has_a_row() -> None:
    view = confusion_view(
        {"confusion": {"names": ["0", "1", "2"], "pairs": [[0, 0, 5], [0, 2, 5]]}}
    )
    shown = ElementTree.fromstring(f"<div>{view}</div>")
    assert [each.text for each in shown.iterfind(".//th[@scope='row']")] == ["0", "2"]
    assert sentences(shown, "row")[1] == "Class 2: no tests."


def test_many_classes_are_a_list_of_the_largest_confusions() -> None:
    most = MOST_CLASSES
    assert "wb-confusion" in confusion_view(evaluation(list(map(str, range(most))), np.eye(most)))
    counts = np.full((most + 1, most + 1), 2)
    counts[7, 4] = 30
    view = confusion_view(evaluation([f"kind {at}" for at in range(most + 1)], counts))
    assert "wb-confusion" not in view
    assert f"The {MOST_LISTED} largest of {(most + 1) * most:,} confusions" in view
    assert view.count("<tr>") == 1 + MOST_LISTED
    first = view.split("<tr>")[2]
    assert first.startswith("<td>kind 7</td><td>kind 4</td><td class=wb-number>30 of 90</td>")
    assert "33.33%" in first


def predictions_of(root: Path, made: dict[str, Any]) -> Predictions:
    """The page of a finished run with this evaluation, whose examples are no images."""
    run = write_run(root)
    write_model(run.dir)
    (run.dir / "evaluation.json").write_text(json.dumps(made))
    answers = np.array([0])
    np.savez(run.dir / "predictions.npz", labels=answers, answers=answers, confidence=answers)
    page = Predictions()
    page.show(run, "finished")
    return page


def test_the_page_shows_the_matrix_beside_the_accuracy_by_class(tmp_path: Path) -> None:
    page = predictions_of(tmp_path, evaluation(NAMES, COUNTS))
    assert "<td>Shirt</td>" in page._classes.value
    assert page._confusion.value == confusion_view(evaluation(NAMES, COUNTS))
    assert page._confusion.layout.display is None


def test_an_evaluation_of_an_earlier_release_says_how_to_get_the_matrix(tmp_path: Path) -> None:
    made = evaluation(NAMES, COUNTS)
    del made["confusion"]
    page = predictions_of(tmp_path, made)
    assert "Click Evaluate to get the matrix." in page._confusion.value
    assert "<table" not in page._confusion.value
    assert "<td>Shirt</td>" in page._classes.value


def test_data_without_classes_has_no_matrix(tmp_path: Path) -> None:
    page = predictions_of(tmp_path, {"test_loss": 0.5, "test_accuracy": None, "classes": []})
    assert page._confusion.layout.display == "none"
