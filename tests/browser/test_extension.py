"""The JupyterLab extension: opening a workbench in a notebook, and its saved view."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.lab_page import LabPage
from tests.browser.sidebar_page import choose
from tests.widgets.folders import write_run
from workbench.catalog import PRESETS

WIDGET = "application/vnd.jupyter.widget-view+json"
SNAPSHOT = "application/vnd.tf-distribute-workbench.snapshot+json"
PICTURE = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
SAVED = f'<img alt="curves" src="{PICTURE}"><table><tr><td>saved loss 0.25</td></tr></table>'
WORKBENCH = "from workbench import Workbench\n\nWorkbench()"
IN_NOTEBOOK = "Distributed training in a new notebook"
NOTE = "Saved view. Run the cell for the live workbench."
SHOW_LIVE = f"""
import ipywidgets
from IPython.display import display
number = ipywidgets.IntText(7, description="live number")
view = {{"model_id": number.model_id, "version_major": 2, "version_minor": 0}}
bundle = {{"{WIDGET}": view, "{SNAPSHOT}": {{}}, "text/html": '{SAVED}'}}
handle = display(bundle, raw=True, display_id="workbench")
"""
SHOW_SAVED = """
from IPython.display import display
def bundle(text):
    return {"text/html": f'<div class="wb-snapshot wb-snapshot-0a1b2c3d">{text}</div>'}
handle = display(bundle("first run"), raw=True, display_id="workbench-0a1b2c3d")
"""


def code(source: str, outputs: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "id": f"cell-{abs(hash(source)) % 10**8}",
        "metadata": {},
        "source": source,
        "execution_count": None,
        "outputs": outputs or [],
    }


def saved_output() -> dict[str, Any]:
    view = {"model_id": "0" * 32, "version_major": 2, "version_minor": 0}
    data = {WIDGET: view, SNAPSHOT: {}, "text/html": SAVED, "text/plain": "Workbench()"}
    return {"output_type": "display_data", "metadata": {}, "data": data}


def test_the_launcher_has_one_card(lab: LabPage) -> None:
    lab.open()
    cards = lab.page.locator(".jp-LauncherCard:visible")
    expect(cards.filter(has_text="Distributed training")).to_have_count(1)
    expect(cards.filter(has_text=re.compile("workbench", re.IGNORECASE))).to_have_count(0)


@pytest.mark.promise
def test_palette_opens_a_workbench_in_a_new_notebook_and_runs_it(lab: LabPage) -> None:
    lab.open()
    tabs = lab.page.locator("#jp-main-dock-panel .lm-TabBar-tab")
    expect(tabs).to_have_text(["Launcher"])
    lab.find_in_palette(IN_NOTEBOOK, run=True)
    lab.wait_for_kernel()
    expect(tabs).to_have_text(["Launcher", re.compile("Untitled")])
    expect(lab.cell(0).locator(".cm-content")).to_contain_text("Workbench()")
    expect(lab.cell(0).locator(".jp-OutputArea-output .jupyter-widgets").first).to_be_visible()
    lab.page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget.context.model.dirty === false"
    )
    tabs.filter(has_text="Untitled").locator(".lm-TabBar-tabCloseIcon").click()
    expect(tabs).to_have_text(["Launcher"])
    expect(lab.page.locator(".jp-Dialog")).to_have_count(0)


def test_the_command_makes_a_notebook_with_the_chosen_folder_of_runs_and_preset(
    lab: LabPage, runs: Path
) -> None:
    choose(lab.server, runsFolder=runs.name, preset="cnn_fashion_mnist")
    write_run(runs, name="There before")
    (lab.server.root / "lessons").mkdir(exist_ok=True)
    lab.open()
    lab.command("filebrowser:go-to-path", path="lessons")
    lab.command("workbench:open")
    lab.wait_for_kernel()
    source = lab.cell(0).locator(".cm-content")
    expect(source).to_contain_text('PRESETS["cnn_fashion_mnist"].config')
    expect(source).to_contain_text(f'runs_dir="../{runs.name}"')
    root = lab.notebook().locator(".wb-root")
    chosen = root.get_by_label("Preset", exact=True).locator("option:checked")
    expect(chosen).to_have_text(PRESETS["cnn_fashion_mnist"].label)
    root.get_by_role("tab", name="Runs", exact=True).click()
    expect(root.locator(".wb-run-row", has_text="There before")).to_be_visible()


def test_menu_offers_it(lab: LabPage) -> None:
    lab.open()
    lab.page.locator("#jp-MainMenu").get_by_text("File", exact=True).click()
    lab.page.locator('.lm-Menu-item[data-type="submenu"]', has_text="New").first.click()
    expect(lab.page.locator(".lm-Menu-item", has_text=IN_NOTEBOOK)).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_saved_view_shows_without_a_kernel(lab: LabPage, theme: str) -> None:
    lab.write_notebook("saved.ipynb", [code(WORKBENCH, [saved_output()])])
    lab.open()
    lab.set_theme(theme)
    lab.open_notebook("saved.ipynb", kernel=False)
    output = lab.cell(0).locator(".jp-OutputArea")
    expect(output.get_by_text("saved loss 0.25")).to_be_visible()
    expect(output.locator("img[alt=curves]")).to_be_visible()
    expect(output.get_by_text(NOTE)).to_be_visible()
    expect(output.get_by_text("Loading widget")).not_to_be_visible()
    lab.screenshot(f"saved-{theme}")


def test_a_kernel_chosen_later_gives_live_views(lab: LabPage) -> None:
    lab.write_notebook("late.ipynb", [code(SHOW_LIVE, [saved_output()])])
    lab.open()
    lab.open_notebook("late.ipynb", kernel=False)
    lab.ask(
        """window.jupyterapp.shell.currentWidget.sessionContext.changeKernel({ name: "python3" })"""
    )
    lab.wait_for_kernel()
    output = lab.run_cell(0).locator(".jp-OutputArea")
    expect(output.get_by_label("live number")).to_be_visible()
    expect(output.get_by_text("saved loss 0.25")).not_to_be_visible()


def test_saved_view_shows_if_the_kernel_lost_the_widget(lab: LabPage) -> None:
    lab.write_notebook("lost.ipynb", [code(WORKBENCH, [saved_output()])])
    lab.open()
    lab.open_notebook("lost.ipynb")
    output = lab.cell(0).locator(".jp-OutputArea")
    expect(output.get_by_text("saved loss 0.25")).to_be_visible()
    expect(output.get_by_text("model not found")).not_to_be_visible()


def test_live_view_replaces_the_saved_one_until_the_kernel_restarts(lab: LabPage) -> None:
    update = 'bundle["text/html"] = "newer"; handle.update(bundle, raw=True)'
    lab.write_notebook("live.ipynb", [code(SHOW_LIVE), code(update)])
    lab.open()
    lab.open_notebook("live.ipynb")
    output = lab.run_cell(0).locator(".jp-OutputArea")
    number = output.get_by_label("live number")
    expect(number).to_be_visible()
    expect(output.get_by_text("saved loss 0.25")).not_to_be_visible()

    number.fill("8")
    lab.run_cell(1)
    expect(lab.cell(1).locator(".jp-InputPrompt")).to_have_text("[2]:")
    expect(number).to_have_value("8")
    expect(number).to_have_count(1)

    lab.command("docmanager:save")
    lab.reload()
    expect(number).to_be_visible()
    expect(output.get_by_text("newer")).not_to_be_visible()

    lab.ask("window.jupyterapp.shell.currentWidget.sessionContext.restartKernel()")
    expect(output.get_by_text("newer")).to_be_visible()
    expect(output.get_by_text(NOTE)).to_be_visible()
    expect(number).not_to_be_visible()


def test_saved_view_is_renewed_after_the_page_was_loaded_again(lab: LabPage) -> None:
    update = 'handle.update(bundle("second run"), raw=True)'
    lab.write_notebook("renewed.ipynb", [code(SHOW_SAVED), code(update)])
    lab.open()
    lab.open_notebook("renewed.ipynb")
    saved = lab.run_cell(0).locator(".wb-snapshot")
    expect(saved).to_have_text("first run")
    lab.command("docmanager:save")
    lab.reload()
    expect(saved).to_have_text("first run")

    lab.run_cell(1)
    expect(saved).to_have_text("second run")
    lab.command("docmanager:save")
    assert "second run" in (lab.server.root / "renewed.ipynb").read_text()
