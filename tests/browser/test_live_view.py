"""The run view over time: a run that grows, busy kernels, late front ends, deleted runs."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.benchmarks.growing import REPLICAS, append, make_run
from tests.browser.lab_page import LabPage
from tests.browser.lab_server import LabServer
from tests.browser.view_page import VIEW, ViewPage
from tests.browser.workbench_page import cell
from tests.waiting import until
from tests.widgets.folders import write_run
from workbench.runs import Run
from workbench.runs.folder import locks
from workbench.runs.folder.state import run_lock

STEPS = 5_000
LATE_FRONT_END = """
import json
from workbench.widgets.run.widget import STATIC, RunWidget
real = json.dumps((STATIC / "runview.js").read_text())
RunWidget._esm = f'''
const real = new Blob([{{real}}], {{{{type: "text/javascript"}}}});
export default {{{{ async render(context) {{{{
    await new Promise(done => {{{{ window.letIn = done; }}}});
    const view = await import(URL.createObjectURL(real));
    return view.default.render(context);
}}}} }}}};
'''
"""
SLOW_FRONT_END = """
from workbench.widgets.run.widget import STATIC, RunWidget
wait = "await new Promise(done => setTimeout(done, 2500)); window.waited = true;"
RunWidget._esm = "if (!window.waited) {{" + wait + "}}" + (STATIC / "runview.js").read_text()
"""
GROW = """
import time
from tests.benchmarks.growing import append
from workbench.runs import Run
run, first = Run({path!r}), {steps}
while True:
    append(run, first, 10)
    first += 10
    time.sleep(0.1)
"""
BUSY = """
import pathlib
pathlib.Path("busy-view").touch()
while pathlib.Path("busy-view").exists():
    sum(range(1000))
"""


@pytest.fixture
def growing(lab_server: LabServer) -> Iterator[Run]:
    """A run of 8 replicas that is alive because this fixture holds its lock."""
    root = lab_server.root / "grown"
    run = make_run(root, STEPS)
    lock = locks.take(run_lock(run.dir))
    assert lock is not None
    yield run
    os.close(lock)
    shutil.rmtree(root, ignore_errors=True)


def test_numbers_at_a_glance_follow_the_run_and_then_its_last_epoch(
    lab: LabPage, growing: Run, tmp_path: Path
) -> None:
    page = ViewPage(lab, growing)
    page.wait_for_points()
    expect(page.number("Examples per second")).to_have_text("12,800")
    expect(page.number("Test accuracy")).to_have_text("\N{EN DASH}")
    expect(page.number("Time left")).not_to_be_empty()
    expect(page.number("Duration")).to_have_count(0)
    page = ViewPage(lab, write_run(tmp_path))
    expect(page.number("Loss")).to_have_text("1.50")
    expect(page.number("Accuracy")).to_have_text("50.00%")
    expect(page.number("Test accuracy")).to_have_text("75.00%")
    expect(page.number("Time left")).to_have_count(0)
    expect(page.view.get_by_role("table", name="Train and test of each epoch")).to_be_visible()
    lab.screenshot("numbers")


def test_while_a_cell_is_busy_charts_go_on_and_clicks_wait_with_a_note(
    lab: LabPage, growing: Run
) -> None:
    page = ViewPage(lab, growing, BUSY)
    page.wait_for_points()
    busy = lab.server.root / "busy-view"
    lab.run_cell(1)
    until(busy.exists)
    source = GROW.format(path=str(growing.dir), steps=STEPS)
    with subprocess.Popen([sys.executable, "-c", source]) as grower:
        try:
            for _ in range(3):
                last = page.charts.get_attribute("data-last") or ""
                expect(page.charts).not_to_have_attribute("data-last", last)
            page.view.get_by_role("button", name="Stop").click()
            expect(page.late).to_be_visible()
            assert not (growing.dir / "stop").exists()
        finally:
            busy.unlink()
            grower.kill()
    expect(page.late).not_to_be_visible()
    expect(page.view.get_by_text("Asked to stop")).to_be_visible()
    assert (growing.dir / "stop").exists()


def test_nothing_is_sent_while_hidden_and_everything_afterwards(lab: LabPage, growing: Run) -> None:
    page = ViewPage(lab, growing)
    page.wait_for_points()
    lab.command("launcher:create")
    expect(page.view).not_to_be_visible()
    kernel_says = """async () => {
        const { sessions } = window.jupyterapp.serviceManager;
        await sessions.refreshRunning();
        const model = [...sessions.running()].find(one => one.path.endsWith('view.ipynb'));
        const session = sessions.connectTo({ model });
        let text = '';
        const code = "print(view._widget.watched)";
        const future = session.kernel.requestExecute({ code });
        future.onIOPub = message => { text += message.content.text ?? ''; };
        await future.done;
        return text.trim();
    }"""
    lab.page.wait_for_function(f"async () => (await ({kernel_says})()) === 'False'")
    append(growing, STEPS, 100)
    lab.command("docmanager:open", path="view.ipynb", factory="Notebook")
    expect(page.charts).to_have_attribute("data-last", str(STEPS + 100))


def test_two_views_of_one_run_follow_it_and_hide_lines_separately(
    lab: LabPage, growing: Run
) -> None:
    ViewPage(lab, growing, "view.box")
    lab.run_cell(1)
    views = lab.notebook().locator(".wbv-charts")
    expect(views).to_have_count(2)
    lab.page.set_viewport_size({"width": 1280, "height": 2400})
    append(growing, STEPS, 50)
    for at in range(2):
        expect(views.nth(at)).to_have_attribute("data-last", str(STEPS + 50))
    keys = lab.notebook().get_by_role("button", name=f"virtual replica {REPLICAS - 1}")
    keys.nth(0).click()
    expect(keys.nth(0)).to_have_attribute("aria-pressed", "false")
    expect(keys.nth(1)).to_have_attribute("aria-pressed", "true")


def test_two_kernels_on_one_run_show_the_same(lab: LabPage, growing: Run) -> None:
    first = ViewPage(lab, growing)
    first.wait_for_points()
    lab.write_notebook("second.ipynb", [cell(VIEW.format(path=str(growing.dir)))])
    lab.open_notebook("second.ipynb")
    lab.run_cell(0)
    append(growing, STEPS, 50)
    expect(first.charts).to_have_attribute("data-last", str(STEPS + 50))
    first.view.get_by_role("button", name="Stop").click()
    expect(first.view.get_by_text("Asked to stop")).to_be_visible()
    append(growing, STEPS + 50, 50)
    lab.command("docmanager:open", path="view.ipynb", factory="Notebook")
    expect(first.charts).to_have_attribute("data-last", str(STEPS + 100))


def test_a_run_deleted_while_shown_is_reported(lab: LabPage, tmp_path: Path) -> None:
    run = write_run(tmp_path)
    page = ViewPage(lab, run)
    page.wait_for_points()
    expect(page.view.get_by_role("button", name="Continue to epoch")).to_be_visible()
    shutil.rmtree(run.dir)
    expect(page.view.get_by_text("The run cannot be shown:")).to_be_visible()
    expect(page.view.get_by_role("button", name="Continue to epoch")).to_have_count(0)


def test_delete_asks_and_can_be_cancelled(lab: LabPage, tmp_path: Path) -> None:
    run = write_run(tmp_path)
    page = ViewPage(lab, run)
    page.view.get_by_role("button", name="Delete ...").click()
    expect(page.view.get_by_text(f"Delete {run.dir} with its records")).to_be_visible()
    page.view.get_by_role("button", name="Keep it").click()
    page.view.get_by_role("button", name="Delete ...").click()
    assert run.dir.exists()
    page.view.get_by_role("button", name="Delete it").click()
    expect(page.view.get_by_text("The run cannot be shown:")).to_be_visible()
    assert not run.dir.exists()


def test_figures_and_help_replace_the_front_end_until_it_answers(
    lab: LabPage, growing: Run
) -> None:
    page = ViewPage(lab, growing, before=LATE_FRONT_END)
    output = lab.cell(0)
    expect(output.get_by_text("The live view did not load. In Jupyter:")).to_be_visible()
    expect(output.locator(".jp-RenderedPlotly img, .jp-RenderedImage img").first).to_be_visible()
    expect(output.get_by_role("button", name="Stop")).to_be_visible()
    lab.screenshot("plain")
    lab.page.evaluate("window.letIn()")
    page.wait_for_points()
    expect(output.get_by_text("The live view did not load.")).to_have_count(0)


def test_a_page_too_slow_for_anywidget_is_given_another_widget(lab: LabPage, growing: Run) -> None:
    page = ViewPage(lab, growing, before=SLOW_FRONT_END)
    page.wait_for_points()
    lab.page.wait_for_function("window.waited")
    append(growing, STEPS, 100)
    expect(page.charts).to_have_attribute("data-last", str(STEPS + 100))
