"""Scripts on the page: opened and undone, compared, never overwritten."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.machines import LAPTOP
from tests.waiting import LIMIT_SECONDS, until
from tests.widgets.folders import write_run
from tests.widgets.scripts import Page
from workbench.codegen import render_script
from workbench.config import RunConfig
from workbench.plan import make_plan
from workbench.widgets.parts.copy_button import CopyButton
from workbench.widgets.script.difference import difference
from workbench.widgets.script.opening import KEEP

CONFIG = RunConfig(epochs=7, seed=3, name="mine", archive="/copies")
BY_HAND = ("    recorder.finish()", '    print("by hand")\n    recorder.finish()')


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


def test_an_edited_model_is_kept_in_a_file_that_the_form_names(page: Page, path: Path) -> None:
    path.write_text(script().replace("Dense(16,", "Dense(48,"))
    page.open(path)
    where, _, function = str(page.config.model).rpartition(":")
    assert function == "make_model"
    assert "Dense(48," in Path(where).read_text()
    assert "make_model is now your own function for model" in page.text
    assert page.form.state.problems == ()
    assert "Difference of the opened file and the form" in page.text


def test_parts_unknown_to_the_form_are_named_and_the_script_can_be_trained(
    page: Page, path: Path
) -> None:
    path.write_text(script().replace(*BY_HAND))
    page.open(path)
    assert "main was edited" in page.text
    assert page.shows("Train this script as it is")
    assert path.read_text() == script().replace(*BY_HAND)


def test_a_changed_field_changes_the_form_s_script_and_the_edits_stay(
    page: Page, path: Path
) -> None:
    path.write_text(script().replace(*BY_HAND))
    page.open(path)
    assert page.view.edited(page.plan) == path.read_text()
    page.set(epochs=9)
    assert page.view.edited(page.plan) == script(replace(CONFIG, epochs=9)).replace(*BY_HAND)
    assert "Train starts train.py with these settings and your edits" in page.note
    page.fill("Save as", str(path.with_name("nine.py")))
    page.click("Save .py")
    assert BY_HAND[1] in path.with_name("nine.py").read_text()
    assert "EPOCHS = 9" in path.with_name("nine.py").read_text()


def test_edits_that_a_field_changes_are_named_side_by_side_before_anything_is_lost(
    page: Page, path: Path
) -> None:
    batches = next(each for each in script().splitlines() if "GLOBAL_BATCH_SIZE = " in each)
    path.write_text(script().replace(batches, "GLOBAL_BATCH_SIZE = 120  # mine"))
    page.open(path)
    page.set(per_replica_batch_size=16)
    assert "<li>GLOBAL_BATCH_SIZE = 120  # mine</li>" in page.text
    assert "Difference of the opened file and the form" in page.text
    assert "leaves out 1 of your edited lines" in page.note


def test_the_edits_can_be_left_out_and_come_back(page: Page, path: Path) -> None:
    path.write_text(script().replace(*BY_HAND))
    page.open(path)
    page.fill(KEEP, False)
    assert page.view.edited(page.plan) is None
    assert page.note == ""
    page.fill(KEEP, True)
    assert page.view.edited(page.plan) == path.read_text()
    page.click("Restore the form")
    assert page.view.edited(page.plan) is None
    assert not page.shows(KEEP)


def test_a_notebook_cannot_have_the_edits_and_is_not_saved(page: Page, path: Path) -> None:
    path.write_text(script().replace(*BY_HAND))
    page.open(path)
    page.fill("Save as", str(path))
    page.click("Save .ipynb")
    assert "leave the edits out of the form" in page.text
    assert not path.with_suffix(".ipynb").exists()


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
