"""axe-core finds no violations on the page: every tab and setting, a problem, runs, both themes."""

import os

import pytest
from playwright.sync_api import expect

from tests.browser.axe import assert_sees_contrast, findings, load_axe
from tests.browser.lab_page import LabPage
from tests.browser.workbench_page import WorkbenchPage
from tests.widgets.folders import write_run
from workbench.runs.folder.state import take_lock

ROOT = ".wb-root"
OPEN_ALL = """root => {
    for (const title of root.querySelectorAll('.wb-fold-title:not(.mod-active)')) title.click();
    for (const part of root.querySelectorAll('details')) part.open = true;
}"""
TABS = ("Plan", "Runs", "Compare", "Batch and rate", "Script", "Agreement", "Run")
FIRST_CONTROL = {
    "Compare": "Replica counts",
    "Batch and rate": "Memory limit (MiB)",
    "Agreement": "Steps of each run",
}
"""A control of each page that is made when its tab is first opened."""
CLOSER_LOOKS = {
    "X-ray of one step": "Step (from 1)",
    "Why is it slow?": "Seconds of timing",
    "Should I scale?": "Batches to measure",
}
"""A control of each page under the opened run."""

pytestmark = pytest.mark.parametrize("theme", ["light", "dark"])


def opened(lab: LabPage, theme: str, name: str) -> WorkbenchPage:
    """Return a workbench in a new notebook in a theme, prepared for axe."""
    workbench = WorkbenchPage(lab, f"{name}-{theme}.ipynb")
    lab.set_theme(theme)
    load_axe(lab.page)
    return workbench


class Findings:
    """The violations that axe finds in the states of a page, by the names of the states."""

    def __init__(self, workbench: WorkbenchPage) -> None:
        self._workbench = workbench
        self.all: dict[str, list[str]] = {}

    def note(self, state: str) -> None:
        """Note the violations of the page as it is now, if there are any."""
        if found := findings(self._workbench.page, ROOT):
            self.all[state] = found


def test_first_screen_settings_problem_and_every_tab(lab: LabPage, theme: str) -> None:
    workbench = opened(lab, theme, "axe")
    found = Findings(workbench)
    found.note("first screen")
    for tab in TABS:
        workbench.turn_to(tab)
        if tab in FIRST_CONTROL:
            control = workbench.root.get_by_label(FIRST_CONTROL[tab], exact=True)
            expect(control).to_be_visible()
        found.note(tab)
    workbench.root.evaluate(OPEN_ALL)
    found.note("all settings")
    workbench.fill({"Global batch": "65"})
    expect(workbench.root.locator(".wb-problem").first).to_be_visible()
    workbench.turn_to("Plan")
    found.note("a problem")
    assert found.all == {}
    assert_sees_contrast(workbench.root.locator(".wb-problem").first, ROOT)
    workbench.root.evaluate("root => root.append(document.createElement('button'))")
    found.note("planted")
    assert found.all["planted"][0].startswith("button-name")


def test_living_failed_and_finished_runs_with_every_closer_look(lab: LabPage, theme: str) -> None:
    root = lab.server.root / "runs"
    finished = write_run(root)
    failed = write_run(root, "failed", 20, cause="It broke.", task="worker-0", fix="Mend it.")
    living = write_run(root, "running", 20)
    lock = take_lock(living.dir)
    assert lock is not None
    try:
        workbench = opened(lab, theme, "axe-runs")
        found = Findings(workbench)
        workbench.show_run()
        expect(workbench.state).to_have_text("running")
        workbench.wait_for_lines("lines.length > 0")
        found.note("running")
        workbench.button("Train").click()
        expect(workbench.button("Do not start")).to_be_visible()
        found.note("a question")
        workbench.button("Do not start").click()
        for run in (failed, finished):
            workbench.open_run(run.id)
            expect(workbench.state).to_have_text(run.status)
            workbench.wait_for_lines("lines.length > 0")
            workbench.root.evaluate(OPEN_ALL)
            found.note(run.status)
    finally:
        os.close(lock)
    for tab, label in CLOSER_LOOKS.items():
        workbench.turn_to(tab)
        expect(workbench.root.get_by_label(label, exact=True)).to_be_visible()
        found.note(tab)
    assert found.all == {}
