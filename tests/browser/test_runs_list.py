"""The list of earlier runs on a page: nothing moves under the pointer; search and deletion."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Locator, expect

from tests.browser.lab_page import LabPage
from tests.browser.workbench_page import WorkbenchPage
from tests.widgets.folders import write_run
from workbench.runs import Run

SOURCE = "from workbench import Workbench\n\nWorkbench(runs_dir={!r})"


def opened(lab: LabPage, runs: Path) -> WorkbenchPage:
    """Return a workbench whose list of earlier runs is in sight."""
    workbench = WorkbenchPage(lab, "list.ipynb", source=SOURCE.format(str(runs)))
    workbench.turn_to("Runs")
    return workbench


def row_of(workbench: WorkbenchPage, run: Run) -> Locator:
    return workbench.root.locator(".wb-run-row", has_text=run.id)


def test_a_new_run_appears_by_itself_but_not_under_the_pointer(
    lab: LabPage, tmp_path: Path
) -> None:
    old = write_run(tmp_path)
    workbench = opened(lab, tmp_path)
    row = row_of(workbench, old)
    row.hover()
    before = row.bounding_box()
    new = write_run(tmp_path)
    expect(workbench.root.get_by_text("2 runs", exact=True)).to_be_visible()
    arrived = row_of(workbench, new)
    expect(arrived).to_have_count(1)
    expect(arrived).to_be_hidden()
    assert row.bounding_box() == before

    lab.page.mouse.move(2, 2)
    expect(arrived).to_be_visible()
    arrived.hover()
    newest = write_run(tmp_path)
    expect(row_of(workbench, newest)).to_have_count(1)
    expect(row_of(workbench, newest)).to_be_hidden()
    expect(arrived).to_be_visible()


def test_runs_are_found_by_words_and_several_are_deleted_after_one_question(
    lab: LabPage, tmp_path: Path
) -> None:
    kept = write_run(tmp_path, name="kept")
    runs = [write_run(tmp_path, "failed", steps=20) for _ in range(2)]
    workbench = opened(lab, tmp_path)
    workbench.field("Search").fill("mirrored failed")
    expect(workbench.root.get_by_text("2 of 3 runs", exact=True)).to_be_visible()
    expect(row_of(workbench, kept)).to_have_count(0)
    workbench.field("Select all listed runs").check()
    workbench.button("Delete 2 selected ...").click()
    workbench.button("Delete 2 runs").click()
    expect(workbench.root.get_by_text("Deleted 2 runs: ")).to_be_visible()
    assert [run.dir.exists() for run in (kept, *runs)] == [True, False, False]
    workbench.field("Search").fill("")
    row_of(workbench, kept).get_by_role("button", name="Use these settings").click()
    expect(workbench.root.get_by_text("The form shows the settings of kept.")).to_be_visible()
    expect(workbench.field("Epochs")).to_have_value("2")
