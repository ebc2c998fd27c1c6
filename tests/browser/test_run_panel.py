"""Runs in the main area, also several side by side: from the server, without a kernel."""

from __future__ import annotations

import shutil

import pytest
from playwright.sync_api import expect

from tests.benchmarks.growing import append, make_run
from tests.browser.axe import assert_sees_contrast, findings, load_axe
from tests.browser.living_runs import alive
from tests.browser.run_page import RunPage
from tests.widgets.folders import write_epoch, write_run
from workbench.runs.consent import foreign_code

STEPS = 2_000
HOSTILE = "<img src=x onerror=document.title='hacked'>"


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
    expect(shown.view.get_by_text(f"{run.id}' in ")).to_be_visible()
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


def sort_by_test_accuracy(shown: RunPage) -> None:
    """Sort the compared runs Bad and Good with the keyboard, until they are as listed again."""
    head = shown.comparison.get_by_role("columnheader", name="Test accuracy")
    first = shown.comparison.locator("tbody th").first
    head.get_by_role("button").focus()
    for direction, on_top in (("descending", "Good"), ("ascending", "Bad"), (None, "Bad")):
        shown.page.keyboard.press("Enter")
        if direction is None:
            expect(shown.comparison.locator("th[aria-sort]")).to_have_count(0)
        else:
            expect(head).to_have_attribute("aria-sort", direction)
        expect(first).to_contain_text(on_top)
        expect(head.get_by_role("button")).to_be_focused()
    shown.comparison.get_by_role("button", name="Run", exact=True).click()
    shown.comparison.get_by_role("button", name="Run", exact=True).click()
    for theme in ("light", "dark"):
        shown.lab.set_theme(theme)
        shown.lab.screenshot(f"compared-runs-{theme}")


def test_runs_are_compared_side_by_side(shown: RunPage) -> None:
    good, bad = (write_run(shown.runs_dir, name=name) for name in ("Good", "Bad"))
    write_epoch(good.dir, 3, 156, test_accuracy=0.875)
    shown.lab.open()
    shown.compare(bad, good)
    expect(shown.row("Good")).to_contain_text("87.50% best")
    expect(shown.row("Bad")).not_to_contain_text("best")
    words = shown.comparison.locator(".wbv-words")
    expect(words).to_have_text("Bad: loss 1.50, no clear trend; Good: loss 1.50, no clear trend")
    sort_by_test_accuracy(shown)
    shown.comparison.get_by_role("combobox", name="Show").select_option("accuracy")
    expect(words).to_contain_text("Good: accuracy 50.0%, no clear trend")
    shown.comparison.get_by_label("X axis").select_option("examples")
    shown.comparison.locator(".wbv-place").focus()
    shown.page.keyboard.press("ArrowRight")
    expect(words).to_have_text("128 examples: Bad 50.0%, Good 50.0%")

    shown.compare(good, bad)
    expect(shown.page.locator(".jp-WorkbenchCompare")).to_have_count(1)
    shown.reload(saved='"order": {"column": "Run", "turned": true}')
    expect(shown.comparison.locator("tbody th").first).to_contain_text("Good")
    head = shown.comparison.get_by_role("columnheader", name="Run", exact=True)
    expect(head).to_have_attribute("aria-sort", "descending")
    shown.comparison.get_by_role("button", name="Remove Bad").click()
    expect(shown.row("Bad")).to_have_count(0)
    expect(words).to_have_text("Good: loss 1.50, no clear trend")
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
        expect(shown.comparison.get_by_text("No runs to compare.")).to_be_visible()


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
