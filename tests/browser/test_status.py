"""The status bar, notifications and settings: from the server, without a kernel."""

from __future__ import annotations

import json
import shutil

import pytest
from playwright.sync_api import expect

from tests.browser.axe import assert_sees_contrast, findings, load_axe
from tests.browser.lab_page import LabPage
from tests.browser.living_runs import alive
from tests.browser.run_page import RunPage
from tests.browser.sidebar_page import choose
from tests.widgets.folders import write_run
from workbench.runs import Run

HOSTILE = "<img src=x onerror=document.title='hacked'>"
OF_JUPYTERLAB = ("label:", "label-title-only:", "select-name:")
"""Violations of JupyterLab's settings editor (4.6): it names the fields by their titles only."""
FADED_BUTTON = (
    'color-contrast: <button class="jp-RestoreButton jp-Button">Restore to Defaults</button>'
)
"""Its button in the dark theme."""
OUR_SETTINGS = ".jp-SettingsPanel .jp-SettingsForm"


def end(run: Run, state: str, **more: object) -> None:
    """Write a state, such as the last one of a run."""
    with (run.dir / "events.jsonl").open("a") as file:
        file.write(json.dumps({"time": 1.0, "event": "state", "state": state, **more}) + "\n")


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


def test_a_queued_run_is_not_in_progress_and_a_resume_takes_its_failure_off_the_page(
    lab: LabPage,
) -> None:
    page = RunPage(lab)
    run = write_run(page.runs_dir, "running", 50, name="Again")
    with alive(run):
        lab.open()
        expect(page.status_bar).to_have_text("1 run in progress")
        end(run, "failed", cause="Out of memory.", task="worker-0", fix="", log="")
    failed = page.notification("Again has failed.")
    expect(failed).to_be_visible()
    with alive(run):
        end(run, "queued", devices=["CPU:0"], behind=["0001"])
        expect(page.status_bar).to_have_text("1 run queued")
        expect(failed).to_have_count(0)
        lab.screenshot("queued-status")
    shutil.rmtree(run.dir)


def test_settings_take_effect_immediately(shown: RunPage) -> None:
    run = write_run(shown.runs_dir, "running", 50, name="Elsewhere")
    with alive(run):
        shown.lab.open()
        expect(shown.status_bar).to_be_hidden()
        shown.lab.command("settingeditor:open", query="Distributed training")
        field = shown.page.locator(".jp-SettingsPanel input[name$=runsFolder]")
        field.fill(shown.folder)
        expect(shown.status_bar).to_have_text("1 run in progress")
        shown.lab.screenshot("settings")
        field.fill("")
        expect(shown.status_bar).to_be_hidden()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_violations_in_status_bar_and_settings(theme: str, shown: RunPage) -> None:
    run = write_run(shown.runs_dir, "running", 50)
    choose(shown.lab.server, runsFolder=shown.folder)
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
