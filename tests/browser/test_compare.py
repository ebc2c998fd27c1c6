"""Strategies compared by clicks: the choices, the table, the recommendation."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.axe import findings, load_axe
from tests.browser.lab_page import LabPage
from tests.browser.workbench_page import WorkbenchPage
from tests.experiments.timed_runs import ONE, timed_run
from tests.waiting import LIMIT_SECONDS
from workbench.experiments import list_comparisons
from workbench.runs import list_runs

TAB = "Compare"
NOT_COMPARED = ("Default", "CentralStorage", "MultiWorkerMirrored", "ParameterServer")


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
    option = workbench.field("Finished runs").locator("option", has_text=run.id)
    workbench.field("Finished runs").select_option(index=option.evaluate("each => each.index"))
    workbench.button("Add to the table").click()
    expect(table).to_contain_text("1 earlier run")

    workbench.root.get_by_text("Colours", exact=True).click()
    workbench.field("Colour of Mirrored x 2").fill("#123456")
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
    expect(table).to_contain_text("Mirrored x 2")
    expect(workbench.root.get_by_text("but with so few runs this may be chance")).to_be_visible()
    for theme in ("light", "dark"):
        workbench.lab.set_theme(theme)
        workbench.button("Compare").scroll_into_view_if_needed()
        workbench.lab.screenshot(f"compare-{theme}")
    assert workbench.overflowing() == []
    look_at_rows(workbench)
    workbench.button("Open the recommended run").click()
    workbench.look()
    expect(workbench.state).to_have_text("finished")
