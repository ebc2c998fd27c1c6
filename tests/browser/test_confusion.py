"""The confusion matrix in the browser: readable at 900 px, exact by pointer and by keyboard."""

import json
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

from tests.browser.axe import findings, load_axe
from tests.browser.lab_page import LabPage
from tests.browser.lab_server import LabServer
from tests.browser.workbench_page import WorkbenchPage
from tests.widgets.folders import write_model, write_run
from workbench.runs import Run

NAMES = [
    *("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat"),
    *("Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"),
]


def write_evaluation(folder: Path, names: list[str]) -> None:
    """Write a model, and its evaluation: a seventh of each class is taken for the first class."""
    write_model(folder)
    pairs = [[0, 0, 1000]]
    for at in range(1, len(names)):
        pairs += [[at, 0, 143], [at, at, 857]]
    classes = [{"name": name, "examples": 1000, "accuracy": 0.857} for name in names]
    confusion = {"names": names, "pairs": pairs}
    made = {"test_loss": 0.4, "test_accuracy": 0.87, "classes": classes, "confusion": confusion}
    (folder / "evaluation.json").write_text(json.dumps(made))
    answers = np.arange(len(names))
    np.savez(folder / "predictions.npz", labels=answers, answers=answers, confidence=answers)


@pytest.fixture
def runs(lab_server: LabServer) -> list[Run]:
    """Runs with evaluations of ten and of thirty classes."""
    made = [write_run(lab_server.root / "runs") for _ in range(2)]
    for run, names in zip(made, (NAMES, [f"kind {number}" for number in range(30)]), strict=True):
        write_evaluation(run.dir, names)
    return made


def opened(workbench: WorkbenchPage, run: Run) -> Locator:
    """Open a run, and return the table of its confusion matrix."""
    workbench.open_run(run.id)
    workbench.turn_to("Predictions")
    return workbench.root.get_by_role("region", name="Confusion matrix")


def left_of(part: Locator) -> float:
    """Return the place of a part's left side on the page, in pixels."""
    box = part.bounding_box()
    assert box is not None
    return box["x"]


def test_a_matrix_of_ten_classes_is_exact_by_pointer_and_by_keyboard(
    lab: LabPage, runs: list[Run]
) -> None:
    lab.page.set_viewport_size({"width": 1440, "height": 900})
    workbench = WorkbenchPage(lab, "exact.ipynb")
    lab.command("application:toggle-left-area")
    matrix = opened(workbench, runs[0])
    row = matrix.get_by_role("row", name="Shirt 143")
    exact = workbench.root.get_by_text("Shirt is taken for T-shirt/top in 143 of 1,000 tests, ")
    expect(exact).to_be_hidden()
    row.get_by_role("cell", name="143").hover()
    expect(exact).to_be_visible()
    row.get_by_role("cell", name="0", exact=True).first.hover()
    expect(exact).to_be_hidden()
    whole = workbench.root.get_by_text("Shirt, 1,000 tests: right 857 (85.70%), T-shirt/top 143")
    row.get_by_role("rowheader", name="Shirt").focus()
    expect(whole).to_be_visible()
    workbench.page.keyboard.press("Tab")
    expect(whole).to_be_hidden()
    expect(workbench.root.get_by_text("Sneaker, 1,000 tests: right 857 (85.70%)")).to_be_visible()


def test_the_matrix_passes_axe_and_scrolls_within_its_part_of_the_page(
    lab: LabPage, runs: list[Run]
) -> None:
    lab.page.set_viewport_size({"width": 900, "height": 900})
    workbench = WorkbenchPage(lab, "matrix.ipynb")
    lab.command("application:toggle-left-area")
    many = opened(workbench, runs[1])
    expect(many.get_by_role("columnheader", name="kind 29")).to_be_attached()
    assert many.evaluate("part => part.scrollWidth > part.clientWidth")
    assert workbench.overflowing() == []
    many.evaluate("part => part.scrollTo(part.scrollWidth, 0)")
    assert left_of(many.get_by_role("rowheader", name="kind 1", exact=True)) >= left_of(many)
    matrix = opened(workbench, runs[0])
    expect(matrix.get_by_role("cell", name="143")).to_have_count(9)
    assert workbench.overflowing() == []
    load_axe(workbench.page)
    for theme in ("light", "dark"):
        lab.set_theme(theme)
        assert findings(workbench.page, ".wb-by-class") == []
