"""Batch size and learning rate, found by clicks and put into the form by clicks."""

import re

from playwright.sync_api import expect

from tests.browser.lab_page import LabPage
from tests.browser.workbench_page import WorkbenchPage

SOURCE = """from workbench import RunConfig, Workbench

Workbench(RunConfig(synthetic_examples=256))"""
TAB = "Batch and rate"


def test_batch_and_rate_are_found_and_used(lab: LabPage) -> None:
    workbench = WorkbenchPage(lab, "finder.ipynb", source=SOURCE)
    workbench.turn_to(TAB)
    workbench.fill({"Memory limit (MiB)": "much"})
    workbench.button("Find the batch size").click()
    expect(workbench.root.get_by_text("must be a whole number; got much")).to_be_visible()
    workbench.fill({"Memory limit (MiB)": ""})
    workbench.button("Find the batch size").click()
    expect(workbench.button("Stop the search")).to_be_visible()
    expect(workbench.button("Find the learning rate")).to_be_disabled()
    table = workbench.root.get_by_role("region", name="Batch sizes tried")
    expect(table).to_contain_text("the largest that fits")
    expect(table.get_by_role("row").last).to_contain_text("128")
    expect(workbench.root.get_by_role("region", name="Throughput by batch size")).to_be_visible()
    workbench.button("Use the largest (128)").click()
    expect(workbench.field("Per-replica batch")).to_have_value("128")
    expect(workbench.field("Global batch")).to_have_value("256")

    workbench.button("Find the learning rate").click()
    use = workbench.root.get_by_role("button", name=re.compile(r"^Use 0\."))
    expect(use).to_be_visible()
    expect(workbench.root.get_by_role("region", name="Loss by learning rate")).to_be_visible()
    rate = use.inner_text().removeprefix("Use ")
    use.click()
    expect(workbench.field("Learning rate")).to_have_value(rate)
    for theme in ("light", "dark"):
        lab.set_theme(theme)
        for button in ("Find the batch size", "Find the learning rate"):
            workbench.button(button).scroll_into_view_if_needed()
            lab.screenshot(f"finder-{button.split()[-1]}-{theme}")
    assert workbench.overflowing() == []
