"""The run view on a real page: zoom, busy cells, hidden views, unusual runs, no front end, axe."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

from tests.benchmarks.growing import REPLICAS, append, make_run
from tests.browser.axe import findings, load_axe
from tests.browser.lab_page import LabPage
from tests.browser.lab_server import LabServer
from tests.browser.workbench_page import cell
from tests.runs.records.written_run import NOW, WrittenRun
from tests.waiting import until
from tests.widgets.folders import BATCH, records, write_run, write_steps
from workbench import RunConfig
from workbench.runs import Run
from workbench.runs.folder import locks
from workbench.runs.folder.state import run_lock

STEPS = 5_000
SOME = re.compile(r"^[1-9]\d*$")
VIEW = """
from workbench.runs import Run
from workbench.widgets.run.view import RunView
view = RunView()
view.open(Run({path!r}))
view.box
"""
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


class ViewPage:
    """A notebook that shows a run and nothing else."""

    def __init__(self, lab: LabPage, run: Run, *more: str, before: str = "") -> None:
        self.lab, self.page = lab, lab.page
        source = before.format() + VIEW.format(path=str(run.dir))
        lab.write_notebook("view.ipynb", [cell(source), *map(cell, more)])
        lab.open()
        lab.open_notebook("view.ipynb")
        lab.run_cell(0)

    @property
    def view(self) -> Locator:
        return self.lab.notebook().locator(".wbv").first

    @property
    def charts(self) -> Locator:
        return self.view.locator(".wbv-charts")

    @property
    def late(self) -> Locator:
        """The note that the kernel has not answered."""
        return self.view.get_by_text("No answer yet")

    def figure(self, name: str) -> Locator:
        """Return a chart with its title, buttons and text."""
        return self.view.get_by_role("figure", name=name)

    def number(self, name: str) -> Locator:
        """Return a number at a glance."""
        named = self.page.get_by_text(name, exact=True)
        return self.view.locator(".wbv-figures dl > div").filter(has=named).locator("dd").first

    def words(self, chart: int) -> Locator:
        """Return the text below a chart: 0 loss, 1 accuracy, 2 speed."""
        return self.view.locator(".wbv-words").nth(chart)

    def wait_for_points(self) -> None:
        expect(self.charts).to_have_attribute("data-points", SOME)


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


def test_zooming_in_shows_single_steps_and_zooming_out_the_complete_run(
    lab: LabPage, tmp_path: Path
) -> None:
    page = ViewPage(lab, make_run(tmp_path, 20_000, state="finished"))
    page.wait_for_points()
    expect(page.charts).to_have_attribute("data-each", "16")
    expect(page.view.get_by_text("Each point is the mean of 16 steps.")).to_be_visible()
    place = page.view.locator(".u-over").first
    box = place.bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    lab.page.mouse.move(box["x"] + 0.5 * box["width"], y)
    lab.page.mouse.down()
    lab.page.mouse.move(box["x"] + 0.51 * box["width"], y, steps=4)
    lab.page.mouse.up()
    expect(page.charts).to_have_attribute("data-each", "1")
    first = int(page.charts.get_attribute("data-first") or 0)
    assert 9_000 < first < 11_000
    page.view.get_by_role("button", name="Show all").click()
    expect(page.charts).to_have_attribute("data-each", "16")
    lab.screenshot("zoomed-out")


@pytest.mark.promise
def test_charts_are_read_and_moved_by_the_keyboard(lab: LabPage, tmp_path: Path) -> None:
    page = ViewPage(lab, make_run(tmp_path, 1_000, state="finished"))
    page.wait_for_points()
    page.view.locator(".wbv-place").first.focus()
    lab.page.keyboard.press("ArrowRight")
    expect(page.words(0)).to_contain_text("step 1: all")
    lab.page.keyboard.press("ArrowRight")
    expect(page.words(0)).to_contain_text("step 2: all")
    expect(page.words(1)).to_contain_text("step 2: all")
    page.view.get_by_label("Along").select_option("time")
    page.view.get_by_label("Smoothing").select_option("heavy")
    page.view.get_by_label("Loss on a log scale").check()
    expect(page.figure("Loss").get_by_text("log scale")).to_be_visible()
    smoothed = page.view.get_by_role("button", name="all: weighted mean, smoothed over 100 steps")
    expect(smoothed).to_be_visible()
    page.view.get_by_label("Smoothing").select_option("none")
    expect(smoothed).to_have_count(0)
    lab.screenshot("treated")


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
    expect(page.number("Loss")).to_have_text("1.5")
    expect(page.number("Accuracy")).to_have_text("50.00%")
    expect(page.number("Test accuracy")).to_have_text("75.00%")
    expect(page.number("Time left")).to_have_count(0)
    expect(page.view.get_by_role("table", name="Train and test of each epoch")).to_be_visible()
    lab.screenshot("numbers")


def test_wide_pages_have_three_charts_in_a_row_and_narrow_ones_two_or_one(
    lab: LabPage, tmp_path: Path
) -> None:
    page = ViewPage(lab, make_run(tmp_path, 1_000, state="finished"))
    page.wait_for_points()
    lab.command("application:toggle-left-area")
    for width, rows in ((1440, [0, 0, 0]), (800, [0, 0, 1]), (560, [0, 1, 2])):
        lab.page.set_viewport_size({"width": width, "height": 900})
        lab.page.wait_for_function(
            """rows => {
                const all = [...document.querySelectorAll('.wbv-plot')];
                const tops = all.map(plot => plot.getBoundingClientRect().top);
                const each = [...new Set(tops)];
                return tops.map(top => each.indexOf(top)).join() === rows.join();
            }""",
            arg=rows,
        )


def test_each_chart_is_downloaded_as_a_picture(lab: LabPage, tmp_path: Path) -> None:
    run = make_run(tmp_path, 1_000, state="finished")
    page = ViewPage(lab, run)
    page.wait_for_points()
    for name, chart in (("Loss", "loss"), ("Examples per second", "rate")):
        for ending, start in (("png", b"\x89PNG"), ("svg", b"<svg xmlns=")):
            button = page.figure(name).get_by_role("button", name=ending.upper(), exact=True)
            button.focus()
            with lab.page.expect_download() as download:
                lab.page.keyboard.press("Enter")
            assert download.value.suggested_filename == f"{run.id}-{chart}.{ending}"
            saved = download.value.path().read_bytes()
            assert saved.startswith(start)
            assert ending == "png" or f">{name}<".encode() in saved


def test_a_run_without_points_has_no_empty_charts(lab: LabPage, tmp_path: Path) -> None:
    run = write_run(tmp_path, "failed", 0, cause="It broke.", task="worker-0", fix="Mend it.")
    page = ViewPage(lab, run)
    expect(page.view.get_by_text("Problem: It broke.")).to_be_visible()
    expect(page.charts).to_be_hidden()
    expect(page.number("Loss")).to_have_count(0)
    expect(page.view.locator(".wbv-plot:visible, table:visible")).to_have_count(0)


def test_a_run_that_starts_shows_its_stage_until_its_first_step(
    lab: LabPage, tmp_path: Path
) -> None:
    written = WrittenRun(write_run(tmp_path, "starting", steps=0))
    written.alive()
    later = time.time() - NOW
    try:
        page = ViewPage(lab, written.run)
        stage = page.view.locator(".wbv-stage")
        expect(stage).to_have_text("Starting the processes …")
        written.silence("begun", later, how={"worker-0": "cold: as requested"})
        expect(stage).to_have_text("Loading the data …")
        written.event("tracing", later)
        expect(stage).to_have_text("Tracing the first call (compiling the graph) …")
        lab.screenshot("stage")
        write_steps(written.run.dir / "worker-0", 0, 0, records(5))
        expect(stage).to_be_hidden()
        expect(page.view.locator(".wbv-progress")).to_contain_text("step 5 of 156")
    finally:
        written.dead()


@pytest.mark.promise
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


@pytest.mark.promise
def test_markup_and_escape_codes_in_a_log_are_plain_text(lab: LabPage, tmp_path: Path) -> None:
    run = write_run(tmp_path)
    hostile = "<img src=x onerror=alert(1)>\n\x1b[31mred\x1b[0m\n" + "y" * 1_000_000 + "\n"
    (run.dir / "worker-0" / "log.txt").write_text(hostile)
    page = ViewPage(lab, run)
    page.view.locator(".wbv-lane summary").click()
    log = page.view.locator(".wbv-lane .wbv-log")
    expect(log).to_be_visible()
    text = log.inner_text()
    assert "\x1b" not in text
    assert len(text) < 70_000
    assert page.view.locator("img").count() == 0


def test_losses_that_are_no_numbers_are_marked(lab: LabPage, tmp_path: Path) -> None:
    run = write_run(tmp_path, "failed", 0, cause="The loss is no number.", fix="Learn slower.")
    rows = records(100)
    rows[60:62, 0, 0] = np.nan
    rows[80, 1, 0] = np.inf
    write_steps(run.dir / "worker-0", 0, 0, rows)
    page = ViewPage(lab, run)
    expect(page.words(0)).to_contain_text("No number at step 61, 62, 81.")
    expect(page.view.get_by_text("Problem: The loss is no number.")).to_be_visible()
    lab.screenshot("no-number")


def test_a_run_of_one_step_and_one_of_64_replicas(lab: LabPage, tmp_path: Path) -> None:
    page = ViewPage(lab, write_run(tmp_path, steps=1))
    page.wait_for_points()
    expect(page.words(0)).to_contain_text("loss 1.5")
    lab.screenshot("one-step")
    many = write_run(tmp_path, steps=0, config=RunConfig(replicas=64, per_replica_batch_size=BATCH))
    rows = np.full((3_000, 64, 3), BATCH, np.float32)
    rows[:, :, 0] *= np.linspace(1, 2, 64)
    write_steps(many.dir / "worker-0", 0, 0, rows)
    page = ViewPage(lab, many)
    page.wait_for_points()
    expect(page.view.get_by_role("button", name="virtual replica 63")).to_have_count(1)
    lab.screenshot("many-replicas")


@pytest.mark.promise
def test_figures_and_help_replace_the_front_end_until_it_answers(
    lab: LabPage, growing: Run
) -> None:
    page = ViewPage(lab, growing, before=LATE_FRONT_END)
    output = lab.cell(0)
    expect(output.get_by_text("This page has not drawn the live view. In Jupyter:")).to_be_visible()
    expect(output.locator(".jp-RenderedPlotly img, .jp-RenderedImage img").first).to_be_visible()
    expect(output.get_by_role("button", name="Stop")).to_be_visible()
    lab.screenshot("plain")
    lab.page.evaluate("window.letIn()")
    page.wait_for_points()
    expect(output.get_by_text("This page has not drawn the live view.")).to_have_count(0)


def test_a_page_too_slow_for_anywidget_is_given_another_widget(lab: LabPage, growing: Run) -> None:
    page = ViewPage(lab, growing, before=SLOW_FRONT_END)
    page.wait_for_points()
    lab.page.wait_for_function("window.waited")
    append(growing, STEPS, 100)
    expect(page.charts).to_have_attribute("data-last", str(STEPS + 100))


@pytest.mark.promise
def test_everything_has_a_name_and_a_role(lab: LabPage, tmp_path: Path) -> None:
    page = ViewPage(lab, make_run(tmp_path, 1_000, state="finished"))
    page.wait_for_points()
    for fold in page.view.locator("summary:not(:text-is('Epochs'))").all():
        fold.click()
    load_axe(lab.page)
    for theme in ("light", "dark"):
        lab.set_theme(theme)
        assert findings(lab.page, ".wbv") == []
    page.view.evaluate("view => view.append(document.createElement('button'))")
    assert any(found.startswith("button-name") for found in findings(lab.page, ".wbv"))
