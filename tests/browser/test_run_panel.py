"""Runs in the main area, the status bar and notifications: from the server, without a kernel."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.benchmarks.growing import append, make_run
from tests.browser.axe import assert_sees_contrast, findings, load_axe
from tests.browser.lab_page import LabPage
from tests.browser.lab_server import LAB, Lab, running_lab
from tests.browser.run_page import RunPage
from tests.browser.sidebar_page import choose
from tests.waiting import LIMIT_SECONDS, until
from tests.widgets.folders import write_epoch, write_run
from workbench import RunConfig, start_run
from workbench.runs import Run
from workbench.runs.consent import foreign_code
from workbench.runs.folder import locks
from workbench.runs.folder.state import LIVE, run_lock

STEPS = 2_000
FOLDER = "shown"
OF_JUPYTERLAB = ("label:", "label-title-only:", "select-name:")
"""Violations of JupyterLab's settings editor (4.6): it names the fields by their titles only."""
FADED_BUTTON = (
    'color-contrast: <button class="jp-RestoreButton jp-Button">Restore to Defaults</button>'
)
"""Its button in the dark theme."""
OUR_SETTINGS = ".jp-SettingsPanel .jp-SettingsForm"
LONG = RunConfig(strategy="one_device", epochs=1, steps_per_epoch=10_000_000)
NAME = "tf-distribute-workbench"
HOSTILE = "<img src=x onerror=document.title='hacked'>"


@pytest.fixture
def shown(lab: LabPage) -> Iterator[RunPage]:
    """A page with its own folder of runs."""
    page = RunPage(lab, FOLDER)
    page.runs_dir.mkdir()
    yield page
    shutil.rmtree(page.runs_dir)


@contextmanager
def alive(run: Run) -> Iterator[None]:
    """Keep a run alive by holding its lock."""
    lock = locks.take(run_lock(run.dir))
    assert lock is not None
    yield
    os.close(lock)


@contextmanager
def trained(root: Path) -> Iterator[Run]:
    """Start a real run, and stop it at the end."""
    run = start_run(LONG, root, name="A long run")
    try:
        yield run
    finally:
        if run.status in LIVE:
            run.stop()
            run.wait(LIMIT_SECONDS)


def end(run: Run, state: str, **more: str) -> None:
    """End a run with this state."""
    with (run.dir / "events.jsonl").open("a") as file:
        file.write(json.dumps({"time": 1.0, "event": "state", "state": state, **more}) + "\n")


@pytest.mark.promise
def test_a_run_is_shown_without_a_kernel_and_its_lines_move(shown: RunPage) -> None:
    run = make_run(shown.runs_dir, STEPS)
    with alive(run):
        shown.lab.open()
        shown.show(run)
        expect(shown.charts).to_have_attribute("data-last", str(STEPS))
        append(run, STEPS, 50)
        expect(shown.charts).to_have_attribute("data-last", str(STEPS + 50))
    assert shown.lab.server.ask("api/kernels") == []


def test_a_second_opening_goes_to_the_open_panel(shown: RunPage) -> None:
    first, second = (write_run(shown.runs_dir, name=name) for name in ("First", "Second"))
    shown.lab.open()
    for run in (first, second, first):
        shown.show(run)
    expect(shown.panels).to_have_count(2)
    expect(shown.view.locator(".wbv-title")).to_have_text("First")
    tab = shown.page.locator(".lm-TabBar-tab.jp-mod-current", has_text="First")
    expect(tab).to_be_visible()


def test_a_page_loaded_again_shows_the_complete_run_and_follows_it(shown: RunPage) -> None:
    run = make_run(shown.runs_dir, STEPS)
    with alive(run):
        shown.lab.open()
        shown.show(run)
        shown.wait_for_points()
        shown.reload()
        expect(shown.charts).to_have_attribute("data-last", str(STEPS))
        expect(shown.charts).to_have_attribute("data-first", "1")
        append(run, STEPS, 50)
        expect(shown.charts).to_have_attribute("data-last", str(STEPS + 50))
    expect(shown.panels).to_have_count(1)


def test_nothing_is_sent_of_a_run_behind_another_tab(shown: RunPage) -> None:
    run = make_run(shown.runs_dir, STEPS)
    with alive(run):
        shown.lab.open()
        shown.show(run)
        shown.wait_for_points()
        with shown.page.expect_event(
            "websocket", lambda socket: "workbench/stream" in socket.url
        ) as found:
            shown.reload()
        with found.value.expect_event("framesent", lambda sent: '"shown":false' in str(sent)):
            shown.lab.command("launcher:create")
        append(run, STEPS, 50)
        shown.show(run)
        expect(shown.charts).to_have_attribute("data-last", str(STEPS + 50))


def test_a_deleted_run_is_reported_also_after_a_reload(shown: RunPage) -> None:
    run = write_run(shown.runs_dir)
    shown.lab.open()
    shown.show(run)
    shown.button("Delete ...").click()
    shown.button("Delete it").click()
    expect(shown.view.get_by_text("The run cannot be shown:")).to_be_visible()
    assert not run.dir.exists()
    shown.reload()
    expect(shown.view.get_by_text("there is none in")).to_be_visible()
    expect(shown.view.get_by_text("Reading the run")).to_be_hidden()


def test_foreign_code_is_executed_only_when_a_person_agrees(shown: RunPage) -> None:
    run = write_run(shown.runs_dir, "stopped", 78)
    (run.dir / "train.py").write_text(run.script + f"# {HOSTILE}\n")
    code = foreign_code(run.dir)
    assert code is not None
    shown.lab.open()
    shown.show(run)
    shown.button("Resume from step 0").click()
    dialog = shown.page.get_by_role("dialog")
    for part in (code.interpreter, code.working_dir, code.digest):
        expect(dialog.get_by_text(part)).to_be_visible()
    expect(dialog.locator("pre")).to_contain_text(HOSTILE)
    shown.lab.screenshot("agree")
    shown.page.keyboard.press("Escape")
    expect(
        shown.view.get_by_text("Not resumed: you did not agree to execute its code.")
    ).to_be_visible()
    assert run.status == "stopped"
    assert shown.page.title() != "hacked"


@pytest.mark.promise
def test_a_real_run_is_stopped_and_resumed_and_outlives_the_server(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "root").mkdir()
    monkeypatch.setenv("WORKBENCH_STATE", str(tmp_path / "home" / "state"))
    server = Lab(tmp_path / "root", tmp_path / "home")
    server.start()
    try:
        lab = LabPage(browser.new_context().new_page(), server.server, tmp_path)
        shown = RunPage(lab)
        with trained(shown.runs_dir) as run:
            lab.open()
            shown.show(run)
            shown.wait_until_past(0)
            shown.button("Stop").click()
            expect(shown.state).to_have_text("stopped")
            stopped_at = run.progress.step
            shown.button(f"Resume from step {stopped_at:,}").click()
            expect(shown.state).to_have_text("running")
            shown.wait_until_past(stopped_at)

            server.kill()
            expect(shown.no_answer).to_be_visible()
            lab.screenshot("no-answer")
            killed_at = shown.last_step
            until(lambda: run.progress.step > killed_at)
            server.start()
            expect(shown.no_answer).to_be_hidden()
            shown.wait_until_past(killed_at)
            assert shown.first_step <= shown.steps_a_point
            expect(shown.state).to_have_text("running")
        assert lab.errors == []
        lab.page.context.close()
    finally:
        server.stop()


def test_it_works_without_a_widget_manager_and_behind_a_path(
    browser: Browser, tmp_path: Path
) -> None:
    alone = tmp_path / "labextensions"
    alone.mkdir()
    (alone / NAME).symlink_to(Path(sys.prefix) / "share/jupyter/labextensions" / NAME)
    where = f"--LabApp.labextensions_path={alone}"
    program = LAB._replace(options=(*LAB.options, where))
    (tmp_path / "root").mkdir()
    with running_lab(tmp_path / "root", tmp_path / "home", program, "/some/where/") as server:
        lab = LabPage(browser.new_context().new_page(), server, tmp_path)
        shown = RunPage(lab)
        run = make_run(shown.runs_dir, STEPS)
        with alive(run):
            lab.open()
            assert "/some/where/lab" in lab.page.url
            manager = "@jupyter-widgets/jupyterlab-manager:plugin"
            assert not lab.page.evaluate(f"window.jupyterapp.hasPlugin('{manager}')")
            shown.show(run)
            shown.wait_for_points()
            append(run, STEPS, 50)
            expect(shown.charts).to_have_attribute("data-last", str(STEPS + 50))
            shown.reload()
            expect(shown.charts).to_have_attribute("data-last", str(STEPS + 50))
            shown.button("Stop").click()
            until((run.dir / "stop").exists)
        lab.page.context.close()


def test_runs_are_compared_side_by_side(shown: RunPage) -> None:
    good, bad = (write_run(shown.runs_dir, name=name) for name in ("Good", "Bad"))
    write_epoch(good.dir, 3, 156, test_accuracy=0.875)
    shown.lab.open()
    shown.compare(bad, good)
    expect(shown.row("Good")).to_contain_text("87.50% best")
    expect(shown.row("Bad")).not_to_contain_text("best")
    words = shown.comparison.locator(".wbv-words")
    expect(words).to_have_text("Bad: loss 1.5, steady; Good: loss 1.5, steady")
    shown.comparison.get_by_role("combobox", name="Show").select_option("accuracy")
    expect(words).to_contain_text("Good: accuracy 50.0%, steady")
    shown.comparison.get_by_label("Along").select_option("examples")
    shown.comparison.locator(".wbv-place").focus()
    shown.page.keyboard.press("ArrowRight")
    expect(words).to_have_text("128 examples: Bad 50.0%, Good 50.0%")

    shown.compare(good, bad)
    expect(shown.page.locator(".jp-WorkbenchCompare")).to_have_count(1)
    shown.reload()
    expect(shown.row("Good")).to_be_visible()
    shown.comparison.get_by_role("button", name="Remove Bad").click()
    expect(shown.row("Bad")).to_have_count(0)
    expect(words).to_have_text("Good: loss 1.5, steady")
    shown.row("Good").get_by_role("button", name="Good", exact=True).click()
    expect(shown.view.locator(".wbv-title")).to_have_text("Good")


def test_compared_runs_are_followed_and_a_deleted_run_is_reported(
    shown: RunPage,
) -> None:
    lives, other = make_run(shown.runs_dir, STEPS), write_run(shown.runs_dir, name="Other")
    with alive(lives):
        shown.lab.open()
        shown.compare(lives, other)
        chart = shown.comparison.locator(".wbv-charts")
        expect(chart).to_have_attribute("data-last", str(STEPS))
        append(lives, STEPS, 64)
        expect(chart).to_have_attribute("data-last", str(STEPS + 64))
        expect(shown.row(lives.title)).to_contain_text(f"{STEPS + 64:,}")
        shutil.rmtree(other.dir)
        expect(shown.row(other.id)).to_contain_text("This run no longer exists.")
        shown.row(other.id).get_by_role("button", name="Remove").click()
        shown.row(lives.title).get_by_role("button", name="Remove").click()
        expect(shown.comparison.get_by_text("No run is compared.")).to_be_visible()


def test_the_status_bar_counts_and_the_end_of_a_run_is_reported_once(lab: LabPage) -> None:
    page = RunPage(lab)
    over = write_run(page.runs_dir, name="Over before")
    first, second = (write_run(page.runs_dir, "running", 50, name=name) for name in ("One", "Two"))
    with alive(second):
        with alive(first):
            lab.open()
            expect(page.status_bar).to_contain_text("2 runs in progress")
            end(first, "finished")
        expect(page.notification("One has finished.")).to_be_visible()
        expect(page.status_bar).to_contain_text("1 run in progress")
        end(second, "failed", cause=f"Out of memory. {HOSTILE}", task="worker-0", fix="", log="")
    failed = page.notification("Two has failed. Out of memory.")
    expect(failed).to_contain_text(HOSTILE)
    expect(page.status_bar).to_be_hidden()
    lab.screenshot("notified")
    failed.get_by_role("button", name="Open", exact=True).click()
    expect(page.view.get_by_text("Problem: Out of memory.")).to_be_visible()
    expect(page.notification("Over before")).to_have_count(0)
    for run in (over, first, second):
        shutil.rmtree(run.dir)


def test_settings_take_effect_immediately(shown: RunPage) -> None:
    run = write_run(shown.runs_dir, "running", 50, name="Elsewhere")
    with alive(run):
        shown.lab.open()
        expect(shown.status_bar).to_be_hidden()
        shown.lab.command("settingeditor:open", query="Distributed training")
        field = shown.page.locator(".jp-SettingsPanel input[name$=runsFolder]")
        field.fill(FOLDER)
        expect(shown.status_bar).to_have_text("1 run in progress")
        shown.lab.screenshot("settings")
        field.fill("")
        expect(shown.status_bar).to_be_hidden()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_violations_in_run_and_comparison(theme: str, shown: RunPage) -> None:
    runs = [make_run(shown.runs_dir, STEPS, state=state) for state in ("finished", "failed")]
    shown.lab.open()
    shown.lab.set_theme(theme)
    shown.show(runs[1])
    shown.wait_for_points()
    load_axe(shown.page)
    assert findings(shown.page, ".jp-WorkbenchRun") == []
    assert_sees_contrast(shown.view.locator(".wbv-title"), ".jp-WorkbenchRun")
    shown.compare(*runs)
    expect(shown.row(runs[0].title).first).to_be_visible()
    assert findings(shown.page, ".jp-WorkbenchCompare") == []
    assert_sees_contrast(shown.comparison.locator("th").first, ".jp-WorkbenchCompare")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_violations_in_status_bar_and_settings(theme: str, shown: RunPage) -> None:
    run = write_run(shown.runs_dir, "running", 50)
    choose(shown.lab.server, runsFolder=FOLDER)
    try:
        with alive(run):
            shown.lab.open()
            shown.lab.set_theme(theme)
            expect(shown.status_bar).to_have_text("1 run in progress")
            shown.lab.command("settingeditor:open", query="Distributed training")
            expect(shown.page.locator(".jp-SettingsPanel input").first).to_be_visible()
            load_axe(shown.page)
            for selector, text in (
                (".jp-WorkbenchStatus", shown.status_bar),
                (OUR_SETTINGS, shown.page.locator(f"{OUR_SETTINGS} h3").first),
            ):
                found = {*findings(shown.page, selector)} - {FADED_BUTTON}
                assert [each for each in found if not each.startswith(OF_JUPYTERLAB)] == []
                assert_sees_contrast(text, selector)
    finally:
        choose(shown.lab.server)
