"""Strategies compared by clicks: the choices, the table, the recommendation."""

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.axe import findings, load_axe
from tests.browser.lab_page import LabPage
from tests.browser.workbench_page import WorkbenchPage
from tests.experiments.timed_runs import ONE, TWO, timed_run
from tests.experiments.written import write_comparison
from tests.waiting import LIMIT_SECONDS
from workbench.experiments import list_comparisons
from workbench.runs import list_runs
from workbench.widgets.comparison.arrangement import Arrangement, write_arrangement

TAB = "Compare"
EARLIEST = "compare-20000101-000000-abcd"
UNDECIDED = "compare-20991231-235959-abcd"
NOT_COMPARED = ("Mirrored", "CentralStorage", "MultiWorkerMirrored", "ParameterServer")


@pytest.fixture
def workbench(lab: LabPage) -> Iterator[WorkbenchPage]:
    """A page at the tab; comparisons that it leaves running are stopped."""
    page = WorkbenchPage(lab, "compare.ipynb")
    page.turn_to(TAB)
    yield page
    for comparison in list_comparisons(page.runs_dir):
        comparison.stop()
        comparison.wait(LIMIT_SECONDS)
        for run in list_runs(comparison.folder):
            run.stop()


def look_at_rows(workbench: WorkbenchPage) -> None:
    """Filter the rows, choose a colour, add an earlier run and remove it again."""
    table = workbench.root.get_by_role("region", name="Comparison table")
    run = timed_run(workbench.runs_dir, ONE, 1000.0)
    workbench.button("Add earlier runs ...").click()
    option = workbench.field("Runs in the folder").locator("option", has_text=run.id)
    workbench.field("Runs in the folder").select_option(index=option.evaluate("each => each.index"))
    workbench.button("Add to the table").click()
    expect(table).to_contain_text("1 earlier run")

    workbench.root.get_by_text("Colours", exact=True).click()
    workbench.field("Colour of Default").fill("#123456")
    line = workbench.root.locator('polyline[stroke="#123456"]')
    expect(line).to_have_attribute("stroke-dasharray", "8 4")
    for theme in ("light", "dark"):
        workbench.lab.set_theme(theme)
        workbench.field("Show only").scroll_into_view_if_needed()
        workbench.lab.screenshot(f"compare-rows-{theme}")
    workbench.field("Show only").fill("earlier than any")
    expect(workbench.root.get_by_text("0 of 3 shown, and the baseline")).to_be_visible()
    expect(line).to_have_count(0)
    workbench.field("Show only").fill("")
    workbench.button("Default colours").click()
    expect(workbench.root.locator("polyline")).to_have_count(3)
    expect(line).to_have_count(0)

    assert workbench.overflowing() == []
    load_axe(workbench.page)
    assert findings(workbench.page, ".wb-compare") == []
    workbench.field("Earlier runs in the table").select_option(index=0)
    workbench.button("Remove from the table").click()
    expect(table).not_to_contain_text("1 earlier run")


def sort_by_heads(workbench: WorkbenchPage) -> None:
    """Sort by the heads of the table, with the keyboard and the pointer; the controls follow."""
    table = workbench.root.get_by_role("region", name="Comparison table")
    rate, name = (table.get_by_role("columnheader", name=name) for name in ("Examples/s", "Name"))
    expect(rate).to_have_attribute("aria-sort", "descending")
    rate.get_by_role("button").focus()
    workbench.page.keyboard.press("Enter")
    expect(rate).to_have_attribute("aria-sort", "ascending")
    expect(workbench.button("worst on top")).to_be_enabled()
    expect(rate.get_by_role("button")).to_be_focused()
    workbench.page.keyboard.press("Enter")
    expect(table.locator("th[aria-sort]")).to_have_count(0)
    expect(workbench.button("first on top")).to_be_disabled()
    expect(workbench.field("Sort by")).to_have_value("as listed")
    expect(rate.get_by_role("button")).to_be_focused()
    name.get_by_role("button").click()
    expect(name).to_have_attribute("aria-sort", "ascending")
    expect(table.locator("tbody td").first).to_contain_text("Mirrored on 2")
    expect(workbench.field("Sort by")).to_have_value("name")


def test_a_comparison_of_two_strategies_is_stopped_and_resumed(workbench: WorkbenchPage) -> None:
    for name in NOT_COMPARED:
        workbench.root.get_by_role("checkbox", name=name, exact=True).uncheck()
    workbench.fill({"Runs per candidate": "none"})
    workbench.button("Compare").click()
    expect(workbench.root.get_by_text("must be a whole number; got none")).to_be_visible()
    workbench.fill({"Runs per candidate": "1", "Steps per run": "2,000", "Target accuracy": "0.9"})
    workbench.button("Compare").click()
    table = workbench.root.get_by_role("region", name="Comparison table")
    expect(table).to_contain_text("waiting")
    workbench.button("Stop the comparison").click()
    expect(workbench.button("Resume the comparison")).to_be_visible()
    workbench.button("Resume the comparison").click()
    done = workbench.root.get_by_text("2 of 2 runs done, finished")
    expect(done).to_be_visible()
    expect(table).to_contain_text("Default")
    for theme in ("light", "dark"):
        workbench.lab.set_theme(theme)
        workbench.button("Compare").scroll_into_view_if_needed()
        workbench.lab.screenshot(f"compare-{theme}")
    assert workbench.overflowing() == []
    look_at_rows(workbench)


def test_more_runs_are_trained_of_candidates_that_are_undecided(
    lab: LabPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    rates = {"OneDevice": (1000.0, 1500.0, 900.0), "Mirrored x 2": (1100.0, 900.0, 1400.0)}
    undecided = write_comparison(lab.server.root / "runs", rates, name=UNDECIDED)
    monkeypatch.setenv("WORKBENCH_STATE", str(lab.server.log.parent / "state"))
    undecided.request.write(undecided.folder)  # as one of the machine that the page is on
    workbench = WorkbenchPage(lab, "undecided.ipynb", trains=False)
    workbench.turn_to(TAB)
    expect(workbench.root.get_by_text("Undecided: ")).to_be_visible()
    workbench.button("Run 3 more of each").click()
    expect(workbench.button("Stop the comparison")).to_be_visible()
    expect(workbench.root.get_by_text("12 of 12 runs done, finished")).to_be_visible()
    assert {run.status for run in list_runs(undecided.folder)} == {"finished"}
    shutil.rmtree(undecided.folder)


def test_an_earlier_comparison_opens_by_a_click_as_it_was_left(lab: LabPage) -> None:
    runs_dir = lab.server.root / "runs"
    rates = {"OneDevice": (1000.0, 1010.0, 990.0), "Mirrored x 2": (1500.0, 1600.0, 1450.0)}
    older = write_comparison(runs_dir, {**rates, "Mirrored x 2": ()}, "stopped", EARLIEST)
    added = timed_run(runs_dir, TWO, 900.0, "stopped")
    left = Arrangement(sort="speed", measure="accuracy", added=(added.id,))
    write_arrangement(older.folder, left)
    newer = write_comparison(runs_dir, rates, name="compare-20991231-235959-abcd")
    workbench = WorkbenchPage(lab, "earlier.ipynb", trains=False)
    workbench.turn_to(TAB)
    expect(workbench.root.get_by_text("Use Mirrored x 2: it is the fastest")).to_be_visible()
    workbench.button("Open the recommended run").click()
    workbench.show_run()
    expect(workbench.state).to_have_text("finished")
    workbench.turn_to(TAB)
    workbench.button("Earlier comparisons ...").click()
    row = workbench.root.locator(".wb-compared-row", has_text=EARLIEST)
    expect(row).to_contain_text("3 of 6 runs")
    row.get_by_role("button", name="Open").click()
    expect(row.get_by_role("button", name="Shown")).to_be_disabled()
    expect(workbench.root.get_by_text("3 of 6 runs done, stopped")).to_be_visible()
    expect(workbench.button("Resume the comparison")).to_be_visible()
    expect(workbench.field("Sort by")).to_have_value("speed")
    expect(workbench.root.get_by_text("1 earlier run, stopped")).to_be_visible()
    expect(workbench.root.get_by_role("img", name="Accuracy over steps")).to_be_visible()
    sort_by_heads(workbench)
    for theme in ("light", "dark"):
        workbench.lab.set_theme(theme)
        workbench.field("Sort by").scroll_into_view_if_needed()
        workbench.lab.screenshot(f"compare-earlier-{theme}")
    assert workbench.overflowing() == []
    load_axe(workbench.page)
    assert findings(workbench.page, ".wb-compare") == []
    for folder in (older.folder, newer.folder, added.dir):
        shutil.rmtree(folder)
