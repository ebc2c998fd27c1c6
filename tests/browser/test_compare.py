"""Strategies compared by clicks: what varies is ticked, the table fills, one is recommended."""

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

TAB = "Which is fastest?"
NOT_COMPARED = ("Default", "CentralStorage", "MultiWorkerMirrored", "ParameterServer")


@pytest.fixture
def workbench(lab: LabPage) -> Iterator[WorkbenchPage]:
    """A page at the tab; what it leaves going is stopped."""
    page = WorkbenchPage(lab, "compare.ipynb")
    page.turn_to(TAB)
    yield page
    for comparison in list_comparisons(page.runs_dir):
        comparison.stop()
        comparison.wait(LIMIT_SECONDS)
        for run in list_runs(comparison.folder):
            run.stop()


def look_at_rows(workbench: WorkbenchPage) -> None:
    """Filter them, choose a colour, add an earlier run and take it out again."""
    table = workbench.root.get_by_role("region", name="What is compared")
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
    workbench.button("Usual colours").click()
    expect(workbench.root.locator("polyline")).to_have_count(3)
    expect(line).to_have_count(0)

    assert workbench.overflowing() == []
    load_axe(workbench.page)
    assert findings(workbench.page, ".wb-compare") == []
    workbench.field("Earlier runs in the table").select_option(index=0)
    workbench.button("Take out").click()
    expect(table).not_to_contain_text("1 earlier run")


def test_two_strategies_are_compared_stopped_and_gone_on_with(workbench: WorkbenchPage) -> None:
    for name in NOT_COMPARED:
        workbench.root.get_by_role("checkbox", name=name, exact=True).uncheck()
    workbench.fill({"Runs of each": "none"})
    workbench.button("Compare").click()
    expect(workbench.root.get_by_text("must be a whole number; got none")).to_be_visible()
    workbench.fill({"Runs of each": "1", "Steps a run": "2,000", "Target accuracy": "0.9"})
    workbench.button("Compare").click()
    table = workbench.root.get_by_role("region", name="What is compared")
    expect(table).to_contain_text("waits")
    workbench.button("Stop the comparison").click()
    expect(workbench.button("Go on")).to_be_visible()
    workbench.button("Go on").click()
    done = workbench.root.get_by_text("2 of 2 runs done, finished")
    expect(done).to_be_visible()
    expect(table).to_contain_text("Mirrored x 2")
    expect(
        workbench.root.get_by_text("though of so few runs chance is not excluded")
    ).to_be_visible()
    for theme in ("light", "dark"):
        workbench.lab.set_theme(theme)
        workbench.button("Compare").scroll_into_view_if_needed()
        workbench.lab.screenshot(f"compare-{theme}")
    assert workbench.overflowing() == []
    look_at_rows(workbench)
    workbench.button("Open the recommended run").click()
    workbench.look()
    expect(workbench.state).to_have_text("finished")
