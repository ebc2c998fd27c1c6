"""The workbench in the hands of a user: train, watch, stop, resume, come back."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.axe import findings, load_axe
from tests.browser.lab_page import LabPage
from tests.browser.lab_server import LabServer
from tests.browser.workbench_page import LONG_RUN, WorkbenchPage
from tests.waiting import LIMIT_SECONDS, until
from tests.widgets.folders import write_run
from workbench.runs import list_runs, open_run
from workbench.runs.consent import foreign_code
from workbench.widgets.parts.agreeing import NOT_AGREED

BUSY = """
import pathlib, time
pathlib.Path("busy").touch()
while pathlib.Path("busy").exists():
    time.sleep(0.01)
"""
NOTE_COMMANDS = """() => {
    window.executed = [];
    window.jupyterapp.commands.commandExecuted.connect((_, ran) => window.executed.push(ran.id));
}"""


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
    workbench.button("More settings").focus()  # from a list, because Shift+Enter has opened it
    lab.page.evaluate(NOTE_COMMANDS)
    lab.page.keyboard.press("Control+s")
    lab.page.wait_for_function("window.executed.includes('docmanager:save')")
    lab.cell(1).click()
    lab.page.keyboard.press("Escape")
    lab.page.keyboard.press("b")
    expect(cells).to_have_count(3)


def test_train_clicked_below_open_settings_leaves_the_run_in_sight(lab: LabPage) -> None:
    workbench = WorkbenchPage(lab, "below.ipynb")
    short = {"Epochs": "1", "Steps per epoch": "20"}
    workbench.train(**short)
    expect(workbench.state).to_have_text("finished")
    before = workbench.run_id.inner_text()
    workbench.fill(short)
    workbench.show_run()
    workbench.button("Train").click()
    expect(workbench.run_id).not_to_have_text(before)
    expect(workbench.state).to_be_in_viewport()
    expect(workbench.state).to_have_text("finished")


def test_the_first_run_clicked_below_open_settings_comes_into_sight(lab: LabPage) -> None:
    workbench = WorkbenchPage(lab, "first.ipynb")
    workbench.fill({"Epochs": "1", "Steps per epoch": "20"})
    workbench.field("Deterministic").scroll_into_view_if_needed()
    workbench.button("Train").click()
    expect(workbench.state).to_be_in_viewport()
    expect(workbench.state).to_have_text("finished")


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
    workbench.show_run()
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
    workbench.show_run()
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
    with lab.page.expect_popup() as opened:
        field.get_by_role("link", name="More about this error").last.click()
    expect(opened.value.locator("h2").first).to_have_text("global_batch_size")
    opened.value.close()

    workbench.fill({"Global batch": "66"})
    expect(workbench.field("Per-replica batch")).to_have_value("33")
    expect(workbench.root.locator(".wb-problem")).to_have_count(0)
    expect(workbench.button("Train")).to_be_enabled()


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


def test_a_click_executes_the_code_of_a_run_from_elsewhere_only_after_a_yes(lab: LabPage) -> None:
    workbench = WorkbenchPage(lab, "elsewhere.ipynb")
    run = write_run(workbench.runs_dir, "stopped", 78)
    code = foreign_code(run.dir)
    assert code is not None
    workbench.open_run(run.id)
    workbench.button("Resume from step 0").click()
    asked = workbench.root.locator(".wb-agreeing", has_text="sha256")
    expect(asked).to_contain_text(str(code))
    expect(asked.get_by_role("region", name="The script")).to_contain_text("def make_strategy")
    lab.screenshot("agreeing")
    load_axe(lab.page)
    assert findings(lab.page, ".wb-agreeing") == []
    workbench.button("Do not execute it").click()
    expect(workbench.root.get_by_text(NOT_AGREED)).to_be_visible()
    expect(asked).to_have_count(0)
    expect(workbench.button("Resume from step 0")).to_be_enabled()
    assert run.status == "stopped"
