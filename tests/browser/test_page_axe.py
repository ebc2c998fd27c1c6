"""axe-core finds no violations on the page: every tab, all settings, a problem, both themes."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.axe import findings, load_axe
from tests.browser.lab_page import LabPage
from tests.browser.workbench_page import WorkbenchPage

ROOT = ".wb-root"
OPEN_ALL = """root => {
    for (const title of root.querySelectorAll('.wb-fold-title:not(.mod-active)')) title.click();
    for (const part of root.querySelectorAll('details')) part.open = true;
}"""
TABS = ("Plan", "Runs", "Compare", "Batch and rate", "Script", "Agreement", "Run")
FIRST_CONTROL = {
    "Compare": "Replicas to compare",
    "Batch and rate": "Memory limit (MiB)",
    "Agreement": "Steps of each run",
}
"""A control of each page that is made when its tab is first opened."""

pytestmark = pytest.mark.parametrize("theme", ["light", "dark"])


@pytest.fixture
def workbench(lab: LabPage, theme: str, tmp_path: Path) -> WorkbenchPage:
    """A page in a theme, prepared for axe."""
    page = WorkbenchPage(lab, f"axe-{tmp_path.name}.ipynb")
    lab.set_theme(theme)
    load_axe(lab.page)
    return page


class Findings:
    """The violations that axe finds in the states of a page, by the names of the states."""

    def __init__(self, workbench: WorkbenchPage) -> None:
        self._workbench = workbench
        self.all: dict[str, list[str]] = {}

    def look(self, state: str) -> None:
        """Note the violations of the page as it is now, if there are any."""
        if found := findings(self._workbench.page, ROOT):
            self.all[state] = found


def test_first_screen_settings_problem_and_every_tab(workbench: WorkbenchPage) -> None:
    found = Findings(workbench)
    found.look("first screen")
    for tab in TABS:
        workbench.turn_to(tab)
        if tab in FIRST_CONTROL:
            control = workbench.root.get_by_label(FIRST_CONTROL[tab], exact=True)
            expect(control).to_be_visible()
        found.look(tab)
    workbench.root.evaluate(OPEN_ALL)
    found.look("all settings")
    workbench.fill({"Global batch": "65"})
    expect(workbench.root.locator(".wb-problem").first).to_be_visible()
    workbench.turn_to("Plan")
    found.look("a problem")
    assert found.all == {}
    workbench.root.evaluate("root => root.append(document.createElement('button'))")
    found.look("planted")
    assert found.all["planted"][0].startswith("button-name")
