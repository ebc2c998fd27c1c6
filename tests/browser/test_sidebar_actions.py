"""Tests of the sidebar's actions on runs, by clicks, by dragging and by the keyboard."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.axe import assert_sees_contrast, findings, load_axe
from tests.browser.lab_page import LabPage
from tests.browser.sidebar_page import SidebarPage
from tests.browser.sidebar_runs import add
from tests.browser.workbench_page import cell
from tests.waiting import LIMIT_SECONDS, until
from workbench import RunConfig
from workbench.runs import start_run

SOURCES = """() => window.jupyterapp.shell.currentWidget.content.widgets
    .map(cell => cell.model.sharedModel.getSource())"""
DIALOG = ".jp-Dialog"
SELECTED = "[role=option][aria-selected=true]"


def test_a_run_is_stopped_resumed_and_deleted_by_clicks(lab: LabPage, runs: Path) -> None:
    config = RunConfig(strategy="one_device", epochs=1, steps_per_epoch=200_000)
    run = start_run(config, runs, name="long one")
    sidebar = SidebarPage(lab)
    expect(sidebar.row("long one")).to_contain_text("steps/s")
    sidebar.row("long one").click()
    expect(sidebar.button("Delete…")).to_be_disabled()
    sidebar.button("Stop").click()
    expect(sidebar.status).to_have_text("Asked “long one” to stop.")
    expect(sidebar.pill("long one")).to_have_text("stopped")

    # The server did not start it, because the server has another state folder than the tests.
    sidebar.button("Resume").click()
    expect(sidebar.dialog).to_contain_text(re.compile("sha256 [0-9a-f]{64}"))
    expect(sidebar.dialog.locator("pre")).to_have_text(run.script)
    lab.page.keyboard.press("Enter")
    expect(sidebar.status).to_contain_text("you did not agree to execute its code")
    sidebar.button("Resume").click()
    sidebar.answer("Execute It")
    expect(sidebar.status).to_have_text("Resumed “long one”.")
    expect(sidebar.row("long one")).to_contain_text("steps/s")
    sidebar.row("long one").click(button="right")
    sidebar.menu_item("Stop").click()
    expect(sidebar.pill("long one")).to_have_text("stopped")

    sidebar.button("Delete…").click()
    expect(sidebar.dialog).to_contain_text("permanently")
    expect(sidebar.dialog).to_contain_text(f"long one ({run.id})")
    lab.page.keyboard.press("Enter")
    expect(sidebar.dialog).to_have_count(0)
    assert run.dir.exists()
    sidebar.button("Delete…").click()
    sidebar.answer("Delete")
    expect(sidebar.pill("long one")).to_have_text("deleted")
    expect(sidebar.status).to_have_text("Deleted “long one”.")
    assert not run.dir.exists()


def test_a_finished_run_trains_on_to_the_requested_epochs(lab: LabPage, runs: Path) -> None:
    run = start_run(
        RunConfig(strategy="one_device", epochs=1, synthetic_examples=640), runs, name="short one"
    )
    assert run.wait(LIMIT_SECONDS) == "finished"
    sidebar = SidebarPage(lab)
    sidebar.row("short one").click()
    sidebar.button("Continue Training").click()
    expect(sidebar.dialog.get_by_label("Total epochs")).to_have_value("2")
    sidebar.answer("Continue Training")
    sidebar.answer("Execute It")
    expect(sidebar.status).to_have_text("Resumed “short one”; training continues to epoch 2.")
    expect(sidebar.pill("short one")).to_have_text("finished")
    assert run.progress.epoch == 2


def test_a_script_goes_into_a_notebook_a_file_and_a_cell(lab: LabPage, runs: Path) -> None:
    run = add(runs, "mine")
    lab.write_notebook("take.ipynb", [cell("")])
    sidebar = SidebarPage(lab)
    lab.open_notebook("take.ipynb", kernel=False)
    sidebar.row("mine").click()
    sidebar.more("Insert Script into Current Cell")
    expect(sidebar.status).to_have_text("Inserted into the notebook.")
    assert lab.page.evaluate(SOURCES) == [run.script]
    sidebar.more("Insert Cell That Opens the Run")
    expect(lab.notebook().get_by_text(f"{run.id}')")).to_be_in_viewport()
    script, opening = lab.page.evaluate(SOURCES)
    assert script == run.script
    assert opening.startswith("from workbench import open_run")

    taken = lab.server.root / f"{run.id}.py"
    taken.write_text("# mine\n")
    sidebar.more("Save Script as New File")
    expect(sidebar.status).to_have_text(f"Saved as {run.id}-1.py.")
    assert (lab.server.root / f"{run.id}-1.py").read_text() == run.script
    assert taken.read_text() == "# mine\n"
    sidebar.more("Save Script as New Notebook")
    expect(sidebar.status).to_have_text(f"Saved as {run.id}.ipynb.")
    expect(lab.notebook()).to_contain_text("make_strategy")


def test_a_row_is_dragged_into_a_notebook(lab: LabPage, runs: Path) -> None:
    run = add(runs, "mine")
    lab.write_notebook("drop.ipynb", [cell("1 + 1")])
    sidebar = SidebarPage(lab)
    lab.open_notebook("drop.ipynb", kernel=False)
    target = until(lambda: lab.cell(0).bounding_box())  # a notebook draws it again while it loads
    sidebar.row("mine").hover()
    lab.page.mouse.down()
    x, y = target["x"] + 200, target["y"] + target["height"] / 2
    with lab.page.expect_response(re.compile(f"{run.id}/script")):
        lab.page.mouse.move(x - 100, y, steps=5)
    expect(lab.page.locator(".jp-WorkbenchRuns-dragged")).to_be_visible()
    lab.page.mouse.move(x, y, steps=5)
    lab.page.mouse.up()
    expect(lab.notebook().locator(".jp-Cell")).to_have_count(2)
    expect(lab.notebook()).to_contain_text("from workbench import open_run")


def test_every_action_works_by_the_keyboard(lab: LabPage, runs: Path) -> None:
    for name in ("one", "two", "three"):
        add(runs, name)
    sidebar = SidebarPage(lab)
    keys = lab.page.keyboard
    expect(sidebar.root.get_by_text("3 runs")).to_be_visible()
    expect(sidebar.root.get_by_role("searchbox")).to_be_focused()
    keys.press("ArrowDown")
    expect(sidebar.list).to_be_focused()
    keys.press("Home")
    keys.press("Shift+ArrowDown")
    expect(sidebar.list.locator(SELECTED)).to_have_count(2)
    keys.press("Control+ArrowDown")
    active = sidebar.list.get_attribute("aria-activedescendant")
    assert active is not None
    expect(lab.page.locator(f"#{active}")).to_have_attribute("aria-posinset", "3")
    keys.press(" ")
    expect(sidebar.list.locator(SELECTED)).to_have_count(3)
    keys.press("Escape")
    keys.press("End")
    keys.press("Enter")
    expect(lab.page.locator("#jp-main-dock-panel").get_by_text("156 of 156")).to_be_visible()

    sidebar.list.focus()
    keys.press("Shift+F10")
    expect(sidebar.menu_item("Delete…")).to_be_visible()
    keys.press("Escape")
    expect(sidebar.list).to_be_focused()
    keys.press("Delete")
    expect(sidebar.dialog).to_be_visible()
    keys.press("Tab")
    keys.press("Enter")
    expect(sidebar.row("deleted")).to_have_count(1)
    keys.press("Shift+Tab")
    expect(sidebar.button(re.compile("Show new runs"))).to_be_focused()


def test_several_runs_are_deleted_after_one_question(lab: LabPage, runs: Path) -> None:
    made = [add(runs, name) for name in ("one", "two", "three")]
    sidebar = SidebarPage(lab)
    sidebar.row("one").click()
    sidebar.row("two").click(modifiers=["Control"])
    sidebar.button("Delete…").click()
    expect(sidebar.dialog).to_contain_text("Delete these 2 runs permanently?")
    sidebar.answer("Delete")
    expect(sidebar.status).to_have_text("Deleted 2 runs.")
    assert [run.dir.exists() for run in made] == [False, False, True]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_violations_in_dialogs(lab: LabPage, runs: Path, theme: str) -> None:
    add(runs, "finished")
    add(runs, "halfway", "stopped", steps=20)
    sidebar = SidebarPage(lab)
    lab.set_theme(theme)
    load_axe(lab.page)
    found: dict[str, list[str]] = {}

    def check(title: str) -> None:
        expect(sidebar.dialog).to_contain_text(title)
        found[title] = findings(lab.page, DIALOG)
        assert_sees_contrast(sidebar.dialog.locator(".jp-Dialog-header"), DIALOG)

    sidebar.row("finished").click()
    sidebar.button("Delete…").click()
    check("permanently")
    sidebar.answer("Keep")
    sidebar.button("Continue Training").click()
    check("Total epochs")
    sidebar.answer("Cancel")
    sidebar.row("halfway").click()
    sidebar.button("Resume").click()
    check("Start over")
    sidebar.answer("Start Over")
    check("Execute the code of")
    sidebar.answer("Cancel")
    assert {title: each for title, each in found.items() if each} == {}
