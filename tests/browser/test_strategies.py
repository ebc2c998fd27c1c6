"""Every strategy of this machine, chosen and trained by clicks; and their agreement."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.lab_page import LabPage
from tests.browser.workbench_page import WorkbenchPage
from tests.waiting import until
from workbench import catalog
from workbench.plan import Plan
from workbench.runs import Run, list_runs

HERE = [key for key, row in catalog.STRATEGIES.items() if not row.tpu]
SHORT = {"Epochs": "1", "Steps per epoch": "20"}
LESSONS = {
    "mlp_synthetic": ("Custom loop", "78: all data once"),
    "cnn_fashion_mnist": ("Keras fit", "1,875: all data once"),
}
"""The problems of the tutorials: the loop chosen for each, and the form's hint at its steps."""
ALL_LINES = re.compile("^all: ")


def newest(workbench: WorkbenchPage, before: int) -> Run:
    """Return the run that the last click started, after the page has opened it."""
    until(lambda: len(list_runs(workbench.runs_dir)) > before)
    run = list_runs(workbench.runs_dir)[0]
    expect(workbench.root.locator(".wbv-title")).to_have_text(run.title)
    return run


def names(plan: Plan) -> list[str]:
    """Return the names of the lines of a plan's replicas."""
    replicas = range(plan.workers * plan.local_replicas)
    if plan.workers > 1:
        return [f"worker {at // plan.local_replicas}, replica {at}" for at in replicas]
    kind = "virtual replica" if plan.virtual else "replica"
    return [f"{kind} {at}" for at in replicas]


def check_lanes(workbench: WorkbenchPage, run: Run) -> None:
    """Check that each task has its lane, and its own TF_CONFIG if there are several tasks."""
    plan = run.plan
    expect(workbench.lanes).to_have_count(len(plan.tasks))
    for at, task in enumerate(plan.tasks):
        lane = workbench.lanes.nth(at)
        expect(lane.locator(".wbv-lane-name")).to_have_text(task)
        expect(lane.locator(".wbv-lane-state")).to_have_text("finished")
        steps = lane.locator("summary .wbv-number").first
        expect(steps).to_have_text(re.compile(r"^step \d+$" if "worker" in task else "^$"))
        if len(plan.tasks) > 1:
            config = (lane.locator(".wbv-config").text_content() or "").removeprefix("TF_CONFIG ")
            kind, _, index = task.rpartition("-")
            assert json.loads(config)["task"] == {"type": kind, "index": int(index)}
            expect(lane.locator(".wbv-log")).not_to_be_empty()


@pytest.mark.parametrize("preset", LESSONS)
def test_each_strategy_trains_by_clicks(preset: str, lab: LabPage) -> None:
    loop, steps = LESSONS[preset]
    workbench = WorkbenchPage(lab, f"{preset}-strategies.ipynb")
    before = len(list_runs(workbench.runs_dir))
    row = catalog.PRESETS[preset]
    workbench.field("Preset").select_option(label=row.label)
    expect(workbench.field("Steps per epoch")).to_have_attribute("placeholder", steps)
    workbench.field("Training loop").select_option(label=loop)
    shown = row.label if loop == catalog.LOOPS[row.config.loop].label else "Custom settings"
    expect(workbench.field("Preset")).to_have_value(shown)
    notice = workbench.root.get_by_text("listens on every network interface")
    for number, key in enumerate(HERE):
        strategy = catalog.STRATEGIES[key]
        workbench.choose(strategy.label)
        expect(notice).to_have_count(int(strategy.workers))
        expect(workbench.field("Global batch")).to_be_visible(visible=strategy.synchronous)
        expect(workbench.button("Train")).to_be_enabled()
        workbench.train(**SHORT)
        run = newest(workbench, before + number)
        expect(workbench.state).to_have_text("finished")
        plan = run.plan
        assert (plan.strategy, plan.model, plan.data) == (key, row.config.model, row.config.data)
        assert catalog.LOOPS[plan.loop].label == loop
        assert run.missing == []
        check_lanes(workbench, run)
        for name in names(plan):
            expect(workbench.legend.get_by_text(name, exact=True)).to_have_count(1)
        joined = workbench.legend.filter(has_text=ALL_LINES)
        together = strategy.synchronous and len(names(plan)) > 1
        expect(joined).to_have_count(2 if together else 0)


def test_a_missing_tpu_is_shown_next_to_the_strategy(lab: LabPage) -> None:
    workbench = WorkbenchPage(lab, "tpu.ipynb")
    workbench.choose("TPU (no TPU here)")
    problem = workbench.root.locator(".wb-problem").filter(has_text="no TPU here")
    expect(problem).to_be_visible()
    expect(workbench.button("Train")).to_be_disabled()
    workbench.fill({"TPU": "my-tpu"})
    workbench.field("TPU").press("Enter")
    workbench.fill({"Replicas": "8"})
    expect(problem).to_have_count(0)
    expect(workbench.button("Train")).to_be_enabled()


def test_the_matrix_runs_while_the_form_can_be_used(lab: LabPage) -> None:
    workbench = WorkbenchPage(lab, "agree.ipynb")
    workbench.turn_to("Agreement")
    workbench.fill({"Steps of each run": "10"})
    workbench.button("Compare all").click()
    expect(workbench.root.get_by_text(re.compile(r"\d+ of 12 runs done, now .*"))).to_be_visible()
    workbench.fill({"Epochs": "7"})
    expect(workbench.button("Train")).to_be_enabled()
    expect(workbench.root.get_by_text(re.compile(r"([2-9]|1\d) of 12 runs done"))).to_be_visible()
    workbench.button("Stop comparing").click()
    expect(workbench.button("Compare all")).to_be_enabled()
    cells = workbench.root.get_by_role("table", name="Which strategies agree").locator("tbody tr")
    expect(cells).to_have_count(14)
    for number in (0, 1):
        expect(cells.nth(number)).to_contain_text("✓ pass")
    passed = cells.filter(has_text="✓ pass").count()
    assert passed >= 2
    expect(cells.filter(has_text="not done")).to_have_count(12 - passed)
    expect(cells.filter(has_text="no TPU here")).to_have_count(2)

    workbench.show()
    workbench.turn_to("Agreement")
    expect(cells.nth(0)).to_contain_text("✓ pass")
