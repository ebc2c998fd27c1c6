"""The run view on a real page: charts, sizes of pages, unusual runs, axe."""

import time
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.benchmarks.growing import make_run
from tests.browser.axe import assert_sees_contrast, findings, load_axe
from tests.browser.lab_page import LabPage
from tests.browser.view_page import ViewPage
from tests.runs.records.written_run import NOW, WrittenRun
from tests.widgets.folders import BATCH, records, write_run, write_steps
from workbench import RunConfig

NO_MEMORY = "The memory of a device or of the machine was used up."


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


def test_charts_are_read_and_moved_by_the_keyboard(lab: LabPage, tmp_path: Path) -> None:
    page = ViewPage(lab, make_run(tmp_path, 1_000, state="finished"))
    page.wait_for_points()
    page.view.locator(".wbv-place").first.focus()
    lab.page.keyboard.press("ArrowRight")
    expect(page.words(0)).to_contain_text("step 1: all")
    lab.page.keyboard.press("ArrowRight")
    expect(page.words(0)).to_contain_text("step 2: all")
    expect(page.words(1)).to_contain_text("step 2: all")
    page.view.get_by_label("X axis").select_option("time")
    page.view.get_by_label("Smoothing").select_option("heavy")
    page.view.get_by_label("Loss on a log scale").check()
    expect(page.figure("Loss").get_by_text("log scale")).to_be_visible()
    smoothed = page.view.get_by_role("button", name="all: weighted mean, smoothed over 100 steps")
    expect(smoothed).to_be_visible()
    page.view.get_by_label("Smoothing").select_option("none")
    expect(smoothed).to_have_count(0)
    lab.screenshot("treated")


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
    run = write_run(tmp_path, "failed", 0, cause=NO_MEMORY, task="worker-0", fix="Mend it.")
    page = ViewPage(lab, run)
    expect(page.view.get_by_text(f"Problem: {NO_MEMORY}")).to_be_visible()
    with lab.page.expect_popup() as opened:
        page.view.get_by_role("link", name="More about this error").click()
    expect(opened.value.locator("h4").first).to_have_text(NO_MEMORY)
    opened.value.close()
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
        write_steps(written.run.dir / "worker-0", 0, records(5))
        expect(stage).to_be_hidden()
        expect(page.view.locator(".wbv-progress")).to_contain_text("step 5 of 156")
    finally:
        written.dead()


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
    write_steps(run.dir / "worker-0", 0, rows)
    page = ViewPage(lab, run)
    expect(page.words(0)).to_contain_text("NaN or infinity at step 61, 62, 81.")
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
    write_steps(many.dir / "worker-0", 0, rows)
    page = ViewPage(lab, many)
    page.wait_for_points()
    expect(page.view.get_by_role("button", name="virtual replica 63")).to_have_count(1)
    lab.screenshot("many-replicas")


def test_everything_has_a_name_and_a_role(lab: LabPage, tmp_path: Path) -> None:
    page = ViewPage(lab, make_run(tmp_path, 1_000, state="finished"))
    page.wait_for_points()
    for fold in page.view.locator("summary:not(:text-is('Epochs'))").all():
        fold.click()
    load_axe(lab.page)
    for theme in ("light", "dark"):
        lab.set_theme(theme)
        assert findings(lab.page, ".wbv") == []
        assert_sees_contrast(page.view.locator(".wbv-title"), ".wbv")
    page.view.evaluate("view => view.append(document.createElement('button'))")
    assert any(found.startswith("button-name") for found in findings(lab.page, ".wbv"))
