"""Scripts on the page: opened and undone, compared, never overwritten."""

from pathlib import Path

import pytest

from tests.codegen.golden import notebook_model
from tests.machines import LAPTOP
from tests.waiting import LIMIT_SECONDS, until
from tests.widgets.folders import write_run
from tests.widgets.scripts import Page
from workbench.codegen import render_script
from workbench.config import RunConfig
from workbench.plan import make_plan
from workbench.widgets.parts.copy_button import CopyButton
from workbench.widgets.script.difference import difference

CONFIG = RunConfig(epochs=7, seed=3, name="mine", archive="/copies")
BY_HAND = ("    model.save(", '    print("by hand")\n    model.save(')


def script(config: RunConfig = CONFIG) -> str:
    return render_script(make_plan(config, LAPTOP))


@pytest.fixture
def page(tmp_path: Path) -> Page:
    return Page(tmp_path / "runs", RunConfig(name="before", epochs=2))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(script())
    return path


def test_a_script_fills_the_form_and_a_click_restores_it(page: Page, path: Path) -> None:
    before = page.config
    assert not page.shows("Restore the form")
    page.open(path)
    assert (page.config.epochs, page.config.seed) == (7, 3)
    assert "is unchanged since the workbench wrote it" in page.text
    assert not page.shows("Train this script as it is")
    page.click("Restore the form")
    assert page.config == before
    assert not page.shows("Restore the form")


def test_fields_that_no_script_has_stay_as_typed(page: Page, path: Path) -> None:
    page.open(path)
    assert (page.config.name, page.config.archive) == ("before", None)


def test_a_changed_constant_fills_its_field_and_is_no_edit(page: Page, path: Path) -> None:
    path.write_text(script().replace("SEED = 3", "SEED = 4"))
    page.open(path)
    assert page.config.seed == 4
    assert "It has no other edits." in page.text
    assert not page.shows("Train this script as it is")
    assert page.note == ""


def test_other_edits_are_marked_beside_the_form_s_script_and_can_be_trained(
    page: Page, path: Path
) -> None:
    path.write_text(script().replace(*BY_HAND))
    page.open(path)
    assert "Difference of the opened file and the form" in page.text
    assert "by hand" in page.text
    assert page.shows("Train this script as it is")
    assert "train.py has edits that are no settings" in page.note
    assert path.read_text() == script().replace(*BY_HAND)
    page.click("Restore the form")
    assert page.note == ""
    assert not page.shows("Train this script as it is")


def test_a_function_in_the_script_is_kept_in_a_file_that_the_form_names(
    page: Page, path: Path
) -> None:
    path.write_text(notebook_model().replace('"tanh"', '"relu"'))
    page.open(path)
    where, _, function = str(page.config.model).rpartition(":")
    assert function == "build_model"
    assert '"relu"' in Path(where).read_text()
    assert page.form.state.problems == ()
    assert "It has no other edits." in page.text


@pytest.mark.slow
def test_training_the_script_as_it_is_runs_exactly_its_text(page: Page, path: Path) -> None:
    small = RunConfig(epochs=1, synthetic_examples=640)
    path.write_text(script(small).replace(*BY_HAND))
    page.open(path)
    page.click("Train this script as it is")
    until(lambda: page.started)
    (run,) = page.started
    assert run.wait(LIMIT_SECONDS) == "finished", run.failure
    assert run.script == path.read_text()


@pytest.mark.parametrize("text", [None, b"print(1)\n", b"def (", b"\xff\xfe"])
def test_a_file_that_cannot_be_opened_is_reported_and_the_form_stays(
    text: bytes | None, page: Page, tmp_path: Path
) -> None:
    before, path = page.config, tmp_path / "other.py"
    if text is not None:
        path.write_bytes(text)
    page.open(path)
    assert "Problem: " in page.text
    assert str(path) in page.text
    assert page.config == before
    assert not page.shows("Restore the form")


def test_the_observer_is_saved_beside_the_script(page: Page, path: Path) -> None:
    page.fill("Save as", str(path))
    page.click("Save observer")
    assert (path.parent / "observe.pyz").exists()
    assert "to record the script anywhere with: python observe.pyz --run-dir run" in page.text


def test_an_edited_script_is_never_overwritten(page: Page, path: Path) -> None:
    path.write_text("mine\n")
    page.fill("Save as", str(path))
    page.click("Save .py")
    assert "so it is not overwritten" in page.text
    assert not page.shows("Replace it")
    page.click("Save as train-2.py")
    assert path.read_text() == "mine\n"
    assert (path.parent / "train-2.py").read_text() == script(page.config)


def test_a_script_edited_after_it_was_saved_is_never_overwritten(page: Page, path: Path) -> None:
    path.unlink()
    page.fill("Save as", str(path))
    page.click("Save .py")
    path.write_text(path.read_text().replace(*BY_HAND))
    page.click("Save .py")
    assert "so it is not overwritten" in page.text
    page.click("Keep it")
    assert BY_HAND[1] in path.read_text()


def test_another_script_of_the_workbench_is_replaced_on_request(page: Page, path: Path) -> None:
    page.fill("Save as", str(path))
    page.click("Save .py")
    assert path.read_text() == script()
    page.click("Replace it")
    assert path.read_text() == script(page.config)


def test_a_script_edited_between_question_and_answer_is_never_overwritten(
    page: Page, path: Path
) -> None:
    page.fill("Save as", str(path))
    page.click("Save .py")
    path.write_text(script().replace(*BY_HAND))
    page.click("Replace it")
    assert path.read_text() == script().replace(*BY_HAND)
    assert "so it is not overwritten" in page.text


def test_two_runs_and_a_file_are_compared_side_by_side(tmp_path: Path, path: Path) -> None:
    page = Page(tmp_path / "runs", RunConfig(epochs=2))
    one = write_run(tmp_path / "runs", config=RunConfig(epochs=2))
    other = write_run(tmp_path / "runs", config=RunConfig(epochs=4))
    page.view.show_run(one)
    page.fill("Compare with", "opened run's script")
    assert "are identical" in page.text
    page.fill("Which script", "run")
    page.fill("Compare with", "other")
    assert "Type a run" in page.text
    page.fill("Run or file", other.id)
    assert "1 line changed." in page.text
    assert "<mark>4</mark>" in page.text
    page.fill("Run or file", str(path))
    assert "2 lines changed." in page.text
    page.fill("Run or file", "no such run")
    assert "Problem: " in page.text


def test_differences_are_summarized_and_identical_lines_are_folded() -> None:
    left = "".join(f"line {number}\n" for number in range(40))
    right = left.replace("line 20\n", "line twenty\n").replace("line 30\n", "") + "more\n"
    shown = difference(left, right, "<one>", "other")
    assert "Left &lt;one&gt;, right other: 1 line changed, 1 line only in &lt;one&gt;" in shown
    assert "1 line only in other." in shown
    assert "<summary>17 identical lines</summary>" in shown
    assert '<span class="wb-hidden">changed: </span>line <mark>twenty</mark>' in shown
    assert 'tabindex="0" role="region"' in shown
    assert "<one>" not in shown


def test_copy_is_offered_for_a_complete_script_only(page: Page) -> None:
    copy = page.view._copy
    assert isinstance(copy.children[0], CopyButton)
    assert copy.layout.display is None
    page.fill("Compare with", "other")
    assert copy.layout.display == "none"
    page.fill("Compare with", "")
    assert copy.layout.display is None
