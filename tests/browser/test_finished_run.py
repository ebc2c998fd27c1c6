"""A finished run in the workbench: its script, X-ray, verdict and scaling, its saved picture."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.lab_page import LabPage
from tests.browser.lab_server import LabServer
from tests.browser.workbench_page import WorkbenchPage
from workbench import RunConfig, start_run
from workbench.devices import detect
from workbench.runs import Run

OPEN_ALL = """root => {
    for (const title of root.querySelectorAll('.wb-fold-title:not(.mod-active)')) title.click();
    for (const part of root.querySelectorAll('.wbv details')) part.open = true;
}"""


@pytest.fixture(scope="module")
def finished_run(lab_server: LabServer) -> Run:
    """A small run that ended before any page is opened."""
    config = RunConfig(per_replica_batch_size=64, epochs=2)
    run = start_run(config, lab_server.root / "runs", detect(import_tensorflow=False))
    run.wait()
    assert run.status == "finished"
    return run


@pytest.fixture(scope="module")
def chatty_run(lab_server: LabServer) -> Run:
    """A run with one step per call, which makes it slow.

    It has too few calls for a comparison of its speed with a later one, as the machine may be busy.
    """
    config = RunConfig(strategy="one_device", steps_per_call=1, per_replica_batch_size=16,
                       synthetic_examples=96, epochs=1)  # fmt: skip
    run = start_run(config, lab_server.root / "runs", detect(import_tensorflow=False))
    assert run.wait() == "finished"
    return run


def agree(workbench: WorkbenchPage) -> None:
    """Agree to the run's code: the kernel's machine did not start it, the tests did."""
    workbench.button("Execute it").click()


@pytest.mark.promise
def test_the_script_shown_is_the_script_that_ran_and_is_saved(
    lab: LabPage, finished_run: Run
) -> None:
    workbench = WorkbenchPage(lab, "script.ipynb")
    workbench.open_run(finished_run.id)
    workbench.turn_to("Script")
    workbench.button("The opened run's script").click()
    code = workbench.root.locator(".wb-code pre")
    text = finished_run.script
    assert (finished_run.dir / "train.py").read_text(encoding="utf-8") == text
    expect(code).to_contain_text("EPOCHS = 2")
    assert code.text_content() == text

    saved = lab.server.root / "mine.py"
    workbench.fill({"Save as": saved.name})
    workbench.button("Save .py").click()
    expect(workbench.root.get_by_text(f"Saved {saved.name}")).to_be_visible()
    assert saved.read_text(encoding="utf-8") == text


def test_a_step_of_the_opened_run_is_shown_by_an_xray(lab: LabPage, finished_run: Run) -> None:
    workbench = WorkbenchPage(lab, "xray.ipynb")
    workbench.open_run(finished_run.id)
    workbench.turn_to("X-ray of one step")
    workbench.field("Step (from 1)").fill("5")
    workbench.button("X-ray").click()
    agree(workbench)
    picture = workbench.root.get_by_role("img", name="Step 5: 128 examples.")
    expect(picture).to_contain_text("Both copies of the weights are equal")
    expect(workbench.root.get_by_text("has the same examples and loss sums")).to_be_visible()
    for theme in ("dark", "light"):
        lab.set_theme(theme)
        picture.scroll_into_view_if_needed()
        assert workbench.overflowing() == []
        lab.screenshot(f"xray-{theme}")


def test_the_cause_of_a_slow_run_is_found_tried_and_put_into_the_form(
    lab: LabPage, chatty_run: Run
) -> None:
    workbench = WorkbenchPage(lab, "why.ipynb")
    workbench.open_run(chatty_run.id)
    workbench.turn_to("Why is it slow?")
    workbench.fill({"Seconds of timing": "60"})
    workbench.button("Find out").click()
    agree(workbench)
    expect(workbench.root.get_by_text(re.compile("Timing steps; about .* left"))).to_be_visible()
    expect(workbench.button("Find out")).to_be_disabled()
    workbench.button("Stop measuring").click()
    expect(workbench.root.get_by_text("Stopped.", exact=True)).to_be_visible()

    workbench.fill({"Seconds of timing": "3"})
    workbench.button("Find out").click()
    picture = workbench.root.get_by_role("img", name=re.compile("^A step: input"))
    expect(picture).to_be_visible()
    workbench.button("Try it").click()
    expect(workbench.root.get_by_text("Training a short run with the suggestion")).to_be_visible()
    expect(workbench.root.locator(".wb-answer").nth(1)).to_contain_text("95 % [")
    workbench.button("Put it into the form").click()
    note = workbench.root.get_by_text("The form holds this run's config with")
    expect(note).to_be_visible()
    suggested = RunConfig.from_json(json.loads((chatty_run.dir / "suggested.json").read_text()))
    assert suggested != chatty_run.config
    expect(workbench.field("Examples")).to_have_value(f"{suggested.synthetic_examples:,}")
    for theme in lab.themes:
        lab.set_theme(theme)
        picture.scroll_into_view_if_needed()
        assert workbench.overflowing() == []
        lab.screenshot(f"why-{theme}")


def test_the_benefit_of_more_replicas_is_measured_by_a_click(
    lab: LabPage, finished_run: Run
) -> None:
    workbench = WorkbenchPage(lab, "scale.ipynb")
    workbench.open_run(finished_run.id)
    workbench.turn_to("Should I scale?")
    workbench.fill({"Batches to measure": "32"})
    workbench.field("At older checkpoints too").check()
    workbench.button("Measure").click()
    agree(workbench)
    expect(workbench.root.get_by_text("Measuring gradients; about")).to_be_visible()
    answer = workbench.root.locator(".wb-answer")
    expect(answer).to_contain_text("replicas help")
    expect(workbench.root.get_by_role("cell", name="first weights")).to_be_visible()
    for theme in lab.themes:
        lab.set_theme(theme)
        answer.scroll_into_view_if_needed()
        assert workbench.overflowing() == []
        lab.screenshot(f"scale-{theme}")


def test_fits_both_themes_and_narrow_pages(lab: LabPage, finished_run: Run) -> None:
    workbench = WorkbenchPage(lab, "fits.ipynb")
    workbench.open_run(finished_run.id)
    expect(workbench.state).to_have_text("finished")
    workbench.wait_for_lines("lines.length > 0")
    workbench.root.evaluate(OPEN_ALL)
    for width, theme in ((900, "dark"), (900, "light"), (1280, "dark"), (1280, "light")):
        lab.page.set_viewport_size({"width": width, "height": 900})
        lab.set_theme(theme)
        lab.page.wait_for_function(
            "() => [...document.querySelectorAll('.wb-root')]"
            ".every(root => root.scrollWidth <= root.clientWidth)"
        )
        for tab in ("Runs", "Agreement", "Script", "Plan"):
            workbench.turn_to(tab)
            assert workbench.overflowing() == []
        lab.screenshot(f"fits-{width}-{theme}")


@pytest.mark.promise
def test_a_saved_notebook_shows_picture_and_table_without_a_kernel(
    lab: LabPage, finished_run: Run
) -> None:
    workbench = WorkbenchPage(lab, "kept.ipynb")
    workbench.open_run(finished_run.id)
    saved = lab.cell(0).locator(".wb-snapshot")
    expect(saved.locator("img")).to_have_count(1)
    expect(saved).not_to_be_visible()
    lab.command("docmanager:save")
    lab.ask("window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    lab.command("application:close")

    lab.open_notebook("kept.ipynb", kernel=False)
    expect(saved.locator("img")).to_be_visible()
    rows = saved.locator("tr")
    expect(rows.filter(has_text=finished_run.id)).to_be_visible()
    expect(rows.filter(has_text=re.compile("State.*finished"))).to_be_visible()
    expect(lab.cell(0).get_by_text("Loading widget")).not_to_be_visible()
    lab.screenshot("kept")
