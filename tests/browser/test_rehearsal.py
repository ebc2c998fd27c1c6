"""A rehearsal of several workers: one click starts it, another kills a worker, and all go on."""

import re

from playwright.sync_api import expect

from tests.browser.axe import findings, load_axe
from tests.browser.lab_page import LabPage
from tests.browser.workbench_page import WorkbenchPage
from workbench.runs import list_runs


def test_a_worker_is_killed_by_a_click_and_all_resume_from_the_checkpoint(lab: LabPage) -> None:
    workbench = WorkbenchPage(lab, "rehearsal.ipynb")
    workbench.button("Rehearse workers").click()
    said = "strategy MultiWorkerMirrored instead of Mirrored, workers 2"
    expect(workbench.root.get_by_text(said)).to_be_visible()
    lab.screenshot("rehearsal-asked")
    workbench.button("Rehearse 1,000 epochs").click()
    workbench.show_run()
    kill = workbench.root.get_by_role("button", name="Kill worker-1")
    expect(kill).to_be_visible()
    workbench.wait_for_lines("lines.length > 1 && lines[0][3] > 1")
    reached = int(max(line[2] for line in workbench.lines()))
    load_axe(lab.page)
    assert findings(lab.page, ".wbv") == []
    kill.click()
    notice = re.compile(
        "worker-1: Killed on request. All tasks start again from the last checkpoint."
    )
    expect(workbench.root.get_by_text(notice)).to_be_visible()
    went_on = workbench.root.get_by_text("All tasks started again from the last checkpoint at")
    expect(went_on).to_be_visible()
    expect(workbench.root.get_by_text("worker-1 was killed; all tasks start")).to_have_count(0)
    lab.screenshot("rehearsal-went-on")
    expect(kill).to_be_visible()
    workbench.wait_for_lines(f"lines.length > 1 && lines[0][2] > {reached + 100}")
    workbench.stop.click()
    expect(workbench.state).to_have_text("stopped")
    run = list_runs(workbench.runs_dir)[0]
    starts = [event for event in run.events() if event["event"] == "start"]
    steps = [event["step"] for event in starts if event["task"] == "worker-0"]
    assert len(steps) == 2
    assert steps[1] > 0
    assert run.missing == []
