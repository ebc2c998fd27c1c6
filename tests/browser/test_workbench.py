"""The workbench in the hands of a user: train, watch, stop, resume, come back, save."""

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.lab_page import LabPage
from tests.browser.lab_server import LabServer
from tests.browser.workbench_page import LONG_RUN, WorkbenchPage
from tests.waiting import LIMIT_SECONDS, until
from workbench import RunConfig, start_run
from workbench.devices import detect
from workbench.runs import Run, list_runs, open_run

BUSY = """
import pathlib, time
pathlib.Path("busy").touch()
while pathlib.Path("busy").exists():
    time.sleep(0.01)
"""
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
    """A run with one step per call, which makes it slow."""
    config = RunConfig(strategy="one_device", steps_per_call=1, per_replica_batch_size=16,
                       synthetic_examples=1600, epochs=1)  # fmt: skip
    run = start_run(config, lab_server.root / "runs", detect(import_tensorflow=False))
    assert run.wait() == "finished"
    return run


@pytest.fixture(autouse=True)
def no_run_left(lab_server: LabServer) -> Iterator[None]:
    """Stop the runs that a test leaves running."""
    yield
    for run in list_runs(lab_server.root / "runs"):
        if run.status in ("queued", "starting", "running", "stopping"):
            run.stop()
            run.wait(LIMIT_SECONDS)


@pytest.mark.promise
def test_a_click_moves_two_lines_and_ends_in_a_result(lab: LabPage) -> None:
    workbench = WorkbenchPage(lab, "train.ipynb")
    workbench.fill({"Epochs": "4"})
    expect(
        workbench.root.get_by_text("TensorFlow is loaded: Train starts immediately.")
    ).to_be_visible()
    workbench.train()
    workbench.wait_for_lines("lines.some(l => l[0] === 'virtual replica 0')")
    workbench.wait_for_lines("lines.some(l => l[0] === 'virtual replica 1')")
    expect(workbench.state).to_have_text("finished")
    workbench.wait_for_lines("lines.length > 0 && lines.every(l => l[2] === 312)")
    assert workbench.lines()[0][1] == 1
    expect(workbench.root.get_by_text("step 312 of 312 (100%)")).to_be_visible()
    expect(workbench.stop).to_be_hidden()
    expect(workbench.button("Continue to epoch")).to_be_enabled()


@pytest.mark.promise
def test_stop_is_graceful_and_resume_goes_on(lab: LabPage) -> None:
    workbench = WorkbenchPage(lab, "stop.ipynb")
    workbench.train(**LONG_RUN)
    expect(workbench.state).to_have_text("running")
    workbench.stop.click()
    expect(workbench.state).to_have_text("stopped")
    run = list_runs(workbench.runs_dir)[0]
    stopped_at = run.progress.step
    assert stopped_at > 0
    expect(workbench.root.get_by_text("Asked to stop")).not_to_be_visible()

    workbench.button(f"Resume from step {stopped_at:,}").click()
    expect(workbench.state).to_have_text("running")
    expect(workbench.stop).to_be_enabled()
    workbench.wait_for_lines(f"lines.length > 0 && lines[0][2] > {stopped_at}")
    assert [one.id for one in list_runs(workbench.runs_dir)].count(run.id) == 1


@pytest.mark.promise
def test_while_a_cell_is_busy_form_and_train_answer_in_the_order_of_the_clicks(
    lab: LabPage,
) -> None:
    workbench = WorkbenchPage(lab, "busy.ipynb", BUSY)
    busy = lab.server.root / "busy"
    lab.run_cell(1)
    until(busy.exists)
    try:
        workbench.field("Training loop").select_option(label="Keras fit")
        workbench.choose("CentralStorage")
        workbench.train(**{"Epochs": "2", "Steps per epoch": "7"})
        expect(workbench.state).to_have_text("finished")
    finally:
        busy.unlink()
    config = list_runs(workbench.runs_dir)[0].config
    assert (config.strategy, config.loop) == ("central_storage", "fit")
    assert (config.epochs, config.steps_per_epoch) == (2, 7)


@pytest.mark.promise
def test_keys_pressed_in_the_workbench_do_not_act_on_the_notebook(lab: LabPage) -> None:
    workbench = WorkbenchPage(lab, "keys.ipynb", "1 + 1")
    cells = lab.notebook().locator(".jp-Cell")
    expect(cells).to_have_count(2)
    workbench.button("More settings").focus()
    for key in ("d", "d", "a", "b", "x", "Shift+M"):
        lab.page.keyboard.press(key)
    expect(workbench.button("More settings")).to_be_focused()
    strategy = workbench.field("Strategy")
    strategy.focus()
    lab.page.keyboard.press("ArrowDown")
    expect(strategy.locator("option:checked")).to_have_text("OneDevice")
    lab.page.keyboard.press("Shift+Enter")
    expect(strategy).to_be_focused()
    expect(cells).to_have_count(2)
    lab.page.keyboard.press("Control+s")
    lab.page.wait_for_function("!window.jupyterapp.shell.currentWidget.context.model.dirty")
    lab.cell(1).click()
    lab.page.keyboard.press("Escape")
    lab.page.keyboard.press("b")
    expect(cells).to_have_count(3)


@pytest.mark.promise
def test_a_second_click_asks_and_the_waiting_run_links_to_the_other(lab: LabPage) -> None:
    workbench = WorkbenchPage(lab, "twice.ipynb")
    workbench.train(**LONG_RUN)
    expect(workbench.state).to_have_text("running")
    first = workbench.run_id.inner_text()
    workbench.button("Train").click()
    expect(workbench.root.get_by_text(f"({first}) is running.")).to_be_visible()
    lab.screenshot("asked")
    workbench.button("Do not start").click()
    expect(workbench.button("Do not start")).to_have_count(0)
    workbench.button("Train").click()
    workbench.button("Start another run").click()
    expect(workbench.state).to_have_text("queued")
    lab.screenshot("queued")
    workbench.button(f"Show {first}").click()
    expect(workbench.run_id).to_have_text(first)
    expect(workbench.state).to_have_text("running")
    assert len(list_runs(workbench.runs_dir)) >= 2


def test_a_restarted_kernel_shows_the_complete_run_and_follows_it(lab: LabPage) -> None:
    workbench = WorkbenchPage(lab, "restart.ipynb")
    workbench.train(**LONG_RUN)
    expect(workbench.state).to_have_text("running")
    run = open_run(workbench.run_id.inner_text(), workbench.runs_dir)
    before = run.progress.step
    saved = lab.notebook().locator(".wb-snapshot h4")
    expect(saved).to_contain_text(run.dated_title)

    workbench.restart_kernel()
    expect(saved).to_be_visible()
    workbench.show()
    expect(workbench.field("Steps per epoch")).to_have_value(LONG_RUN["Steps per epoch"])
    expect(workbench.state).to_have_text("running")
    expect(workbench.run_id).to_have_text(run.id)
    # Complete: the first point has the first steps, as many as every other point.
    whole = "lines.length > 0 && lines[0][1] * lines[0][3] >= lines[0][2]"
    workbench.wait_for_lines(f"{whole} && lines[0][2] > {before}")
    after = workbench.lines()[0][2]
    workbench.wait_for_lines(f"lines.length > 0 && lines[0][2] > {after}")


@pytest.mark.promise
def test_a_page_loaded_again_during_a_run_is_live_complete_and_answered(lab: LabPage) -> None:
    workbench = WorkbenchPage(lab, "again.ipynb")
    workbench.train(**LONG_RUN)
    workbench.wait_for_lines("lines.length > 0 && lines[0][2] > 100")
    before = workbench.lines()[0][2]
    lab.command("docmanager:save")
    lab.page.reload()
    lab.wait_until_ready()
    workbench.look()
    whole = "lines.length > 0 && lines[0][1] * lines[0][3] >= lines[0][2]"
    workbench.wait_for_lines(f"{whole} && lines[0][2] > {before}")
    workbench.stop.click()
    expect(workbench.state).to_have_text("stopped")


@pytest.mark.promise
def test_a_problem_is_shown_next_to_its_field_with_its_fix(lab: LabPage) -> None:
    workbench = WorkbenchPage(lab, "problem.ipynb")
    workbench.fill({"Global batch": "65"})
    field = workbench.root.locator(".wb-field:has(> .wb-problem, .widget-html .wb-problem)")
    expect(field.filter(has_text="64 or 66").last).to_contain_text("Global batch")
    expect(workbench.button("Train")).to_be_disabled()
    expect(workbench.root.get_by_text("Fix Global batch to train")).to_be_visible()

    workbench.fill({"Global batch": "66"})
    expect(workbench.field("Per-replica batch")).to_have_value("33")
    expect(workbench.root.locator(".wb-problem")).to_have_count(0)
    expect(workbench.button("Train")).to_be_enabled()


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
    workbench.field("Step, from 1").fill("5")
    workbench.button("X-ray").click()
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
    workbench.fill({"Batches to take": "32"})
    workbench.field("At older checkpoints too").check()
    workbench.button("Measure").click()
    expect(workbench.root.get_by_text("Taking batches; about")).to_be_visible()
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


def test_the_gauge_shows_only_current_numbers(lab: LabPage) -> None:
    workbench = WorkbenchPage(lab, "gauge.ipynb", "Workbench.newest()._hardware.close()")
    gauge = workbench.root.locator(".wb-gauge")
    workbench.root.locator(".wb-hardware .wb-fold-title").click()
    gauge.scroll_into_view_if_needed()
    meter = gauge.get_by_role("meter", name="Memory in use")
    expect(meter).to_have_attribute("aria-valuetext", re.compile(r"\d.* of \d"))
    lab.run_cell(1)
    gauge.scroll_into_view_if_needed()
    expect(gauge).to_have_text("In use nowunknown: the kernel does not answer")
