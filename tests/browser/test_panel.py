"""The workbench as a panel: it returns, reports its kernel's state, and leaves nothing behind."""

import json
import re
import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, expect

import workbench
from tests.browser.axe import assert_sees_contrast, findings, load_axe
from tests.browser.conftest import VIEWPORT
from tests.browser.lab_page import LabPage
from tests.browser.lab_server import LAB, Program, running_lab
from tests.browser.panel_page import PanelPage
from tests.browser.workbench_page import LONG_RUN
from tests.waiting import LIMIT_SECONDS, until
from workbench.runs import list_runs

MANAGER = "@jupyter-widgets/jupyterlab-manager"
OURS = "tf-distribute-workbench"
LABEL = "Distributed training"
WITHOUT = "Another Python"


@pytest.fixture
def panel(lab: LabPage) -> Iterator[PanelPage]:
    """A page without a panel; runs that it leaves running are stopped."""
    page = PanelPage(lab)
    yield page
    for run in list_runs(page.runs_dir):
        if run.status in ("queued", "starting", "running", "stopping"):
            run.stop()
            run.wait(LIMIT_SECONDS)


def test_a_click_opens_the_form_and_a_second_click_shows_it_again(panel: PanelPage) -> None:
    panel.open()
    panel.fill({"Global batch": "65"})
    expect(panel.root.get_by_text("64 or 66")).to_be_visible()

    panel.lab.command("launcher:create")
    panel.click_card()
    expect(panel.panels).to_be_visible()
    expect(panel.panels).to_have_count(1)
    expect(panel.field("Global batch")).to_have_value("65")
    assert len(panel.kernels()) == 1


def test_the_address_of_workbench_lab_opens_it_once(panel: PanelPage) -> None:
    panel.lab.open(workbench="")
    panel.wait_until_live()
    panel.page.wait_for_function("!location.search.includes('workbench')")
    panel.reload()
    panel.wait_until_live()
    panel.page.goto(panel.lab.address(workbench=""))
    panel.lab.wait_until_ready()
    panel.wait_until_live()
    expect(panel.panels).to_have_count(1)
    assert len(panel.kernels()) == 1


def test_a_later_workbench_lab_starts_a_new_one_in_the_place_of_the_lost(panel: PanelPage) -> None:
    """The layout remembers the panel, but its kernel has ended with the server."""
    panel.lab.open(workbench="")
    panel.wait_until_live()
    (before,) = panel.kernels()
    panel.page.goto("about:blank")
    panel.lab.server.shut_down_kernels()
    panel.lab.open(workbench="")
    panel.wait_until_live()
    expect(panel.panels).to_have_count(1)
    assert before not in panel.kernels()


def test_palette_menu_and_keyboard_reach_it(panel: PanelPage) -> None:
    panel.lab.open()
    expect(panel.lab.find_in_palette(LABEL)).to_be_visible()
    panel.page.keyboard.press("Escape")
    panel.page.locator("#jp-MainMenu").get_by_text("View", exact=True).click()
    expect(panel.page.locator(".lm-Menu-item", has_text=LABEL)).to_be_visible()
    panel.page.keyboard.press("Escape")
    panel.page.keyboard.press("Control+Alt+g")
    panel.wait_until_live()


def test_a_page_loaded_again_comes_back_to_the_same_kernel(panel: PanelPage) -> None:
    panel.open()
    panel.fill({"Epochs": "7"})
    panel.turn_to("Script")
    expect(panel.root.locator(".wb-code pre")).to_contain_text("EPOCHS = 7")
    before = panel.kernels()

    panel.reload()
    panel.wait_until_live()
    assert panel.kernels() == before
    expect(panel.field("Epochs")).to_have_value("7")
    saved = panel.lab.server.root / "by_the_panel.py"
    panel.turn_to("Script")
    panel.fill({"Save as": saved.name})
    panel.button("Save .py").click()
    expect(panel.root.get_by_text(f"Saved {saved.name}")).to_be_visible()
    assert "EPOCHS = 7" in saved.read_text()


LOSE_ONE_ANSWER = """
from ipywidgets import Widget
whole = Widget._handle_control_comm_msg.__func__

def lose(cls, message):
    Widget._handle_control_comm_msg = classmethod(whole)
    cls._control_comm.send({"method": "update_states", "states": {}, "buffer_paths": []})

Widget._handle_control_comm_msg = classmethod(lose)
"""


def test_a_page_that_does_not_get_its_widgets_asks_for_them_again(panel: PanelPage) -> None:
    panel.open()
    panel.fill({"Epochs": "7"})
    panel.run_in_kernel(LOSE_ONE_ANSWER)
    panel.reload()
    panel.wait_until_live()
    expect(panel.field("Epochs")).to_have_value("7")


def test_from_the_launcher_to_a_script_that_trains_the_same_alone(
    panel: PanelPage, tmp_path: Path
) -> None:
    panel.open()
    panel.train(**LONG_RUN)
    panel.wait_for_lines("lines.length > 0")
    drawn = panel.lines()[0][2]
    panel.wait_for_lines(f"lines[0][2] > {drawn}")
    panel.reload()
    panel.wait_until_live()
    panel.show_run()
    panel.wait_for_lines(f"lines.length > 0 && lines[0][2] > {drawn}")
    panel.stop.click()
    expect(panel.state).to_have_text("stopped")

    panel.train(**{"Epochs": "2", "Steps per epoch": "500"})
    expect(panel.state).to_have_text("finished")
    panel.turn_to("Script")
    saved = panel.lab.server.root / "alone.py"
    panel.fill({"Save as": saved.name})
    panel.button("Save .py").click()
    expect(panel.root.get_by_text(f"Saved {saved.name}")).to_be_visible()
    alone = tmp_path / "alone"
    command = [sys.executable, saved, "--run-dir", alone]
    done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    run = list_runs(panel.runs_dir)[0]
    losses = re.findall(r"^epoch \d+: loss ([\d.]+),", done.stdout, re.MULTILINE)
    # Scripts print four digits.
    assert [*map(float, losses)] == pytest.approx(run.epochs()["loss"].tolist(), abs=1e-4)


def test_a_page_that_lost_its_panel_finds_the_workbench_again(panel: PanelPage) -> None:
    panel.open()
    panel.fill({"Epochs": "7"})
    panel.turn_to("Script")
    expect(panel.root.locator(".wb-code pre")).to_contain_text("EPOCHS = 7")
    before = panel.kernels()

    panel.lab.workspace = secrets.token_hex(4)
    panel.lab.open()
    panel.click_card()
    panel.wait_until_live()
    assert panel.kernels() == before
    expect(panel.field("Epochs")).to_have_value("7")


def test_one_click_replaces_a_missing_kernel(panel: PanelPage) -> None:
    panel.open()
    panel.page.goto("about:blank")
    panel.lab.server.shut_down_kernels()
    panel.lab.open()
    expect(panel.error).to_contain_text("kernel of this workbench no longer exists")
    expect(panel.page.locator(".jp-Dialog")).to_have_count(0)
    panel.start_again()
    panel.reload()
    panel.wait_until_live()
    assert len(panel.kernels()) == 1


def test_a_killed_kernel_is_reported_and_replaced_by_a_click(panel: PanelPage) -> None:
    panel.open()
    before = panel.kernels()
    panel.kill_kernel()
    expect(panel.error).to_contain_text("kernel of this workbench was restarted")
    expect(panel.panels.locator("[inert] .wb-root")).to_have_count(1)
    panel.lab.screenshot("killed")
    panel.start_again()
    assert len(panel.kernels()) == 1
    assert panel.kernels() != before
    panel.fill({"Global batch": "65"})
    expect(panel.root.get_by_text("64 or 66")).to_be_visible()


def test_a_kernel_ended_elsewhere_is_reported(panel: PanelPage) -> None:
    panel.open()
    panel.lab.server.shut_down_kernels()
    expect(panel.error).to_contain_text("kernel of this workbench no longer exists")


def test_closing_ends_the_kernel_and_no_run(panel: PanelPage) -> None:
    panel.open()
    panel.train(**LONG_RUN)
    expect(panel.state).to_have_text("running")
    panel.close()
    until(lambda: panel.kernels() == [])
    run = list_runs(panel.runs_dir)[0]
    before = run.progress.step
    until(lambda: run.progress.step > before)
    assert run.status == "running"

    panel.lab.command("launcher:create")
    panel.click_card()
    expect(panel.state).to_have_text("running")
    panel.stop.click()
    expect(panel.state).to_have_text("stopped")


def test_a_kernel_without_the_workbench_is_reported_and_another_is_chosen(panel: PanelPage) -> None:
    write_kernel_without_workbench(panel.lab.server.log.parent / "data" / "kernels" / "without")
    panel.lab.open()
    panel.lab.command("workbench:open-panel", path=f"workbench-{uuid4()}", kernel="without")
    panel.lab.command("workbench:open-panel")
    panel.error.get_by_role("button").click()
    expect(panel.error).to_contain_text(f'The kernel "{WITHOUT}" does not have it')
    expect(panel.error).to_contain_text("pip install tf-distribute-workbench")
    panel.lab.screenshot("without")
    choice = panel.error.get_by_label("Kernel")
    expect(choice).to_have_value("without")
    choice.select_option("python3")
    panel.start_again()
    assert len(panel.kernels()) == 1


def write_kernel_without_workbench(folder: Path) -> None:
    """Write the spec of a kernel of this Python that cannot import this package."""
    ours = str(Path(workbench.__file__).parents[1])
    start = (
        f"import sys; sys.path = [path for path in sys.path if path != {ours!r}]; "
        "from ipykernel.kernelapp import launch_new_instance; launch_new_instance()"
    )
    spec = {
        "argv": [sys.executable, "-c", start, "-f", "{connection_file}"],
        "display_name": WITHOUT,
        "language": "python",
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kernel.json").write_text(json.dumps(spec))


def test_it_uses_its_width_and_scrolls_down_only(panel: PanelPage) -> None:
    panel.open()
    panel.lab.command("application:toggle-left-area")
    panel.button("More settings").click()
    for width, theme in ((620, "dark"), (620, "light"), (1800, "dark"), (1800, "light")):
        panel.page.set_viewport_size({"width": width, "height": 900})
        panel.lab.set_theme(theme)
        panel.page.wait_for_function(
            "() => document.querySelector('.wb-root').clientWidth > 0.8 * innerWidth"
        )
        assert panel.overflowing() == []
        scrolls = "panel => [panel.scrollWidth > panel.clientWidth, panel.scrollHeight > 900]"
        assert panel.panels.evaluate(scrolls) == [False, True]
        panel.lab.screenshot(f"panel-{width}-{theme}")


@pytest.mark.parametrize("missing", ["disabled", "not installed"])
def test_without_the_widget_manager_it_shows_a_fix_and_all_other_parts_work(
    browser: Browser, tmp_path: Path, missing: str
) -> None:
    root, home = tmp_path / "root", tmp_path / "home"
    root.mkdir()
    with running_lab(root, home, lab_without_manager(home, missing)) as server:
        context = browser.new_context(viewport=VIEWPORT)
        panel = PanelPage(LabPage(context.new_page(), server, tmp_path))
        panel.lab.open()
        panel.click_card()
        expect(panel.error).to_contain_text(f"{MANAGER} is {missing} here.")
        expect(panel.error.get_by_role("button", name="Reload the page")).to_be_visible()
        assert panel.kernels() == []
        panel.lab.screenshot(f"without-manager-{missing}")
        inactive = f"""() => window.jupyterapp.listPlugins()
            .filter(id => id.startsWith('{OURS}:'))
            .filter(id => !window.jupyterapp.isPluginActivated(id))"""
        assert panel.page.evaluate(inactive) == []
        context.close()
        assert panel.lab.errors == []


def lab_without_manager(home: Path, missing: str) -> Program:
    """Return a JupyterLab with the widget manager disabled, or with only our extension."""
    if missing == "disabled":
        settings = home / "config" / "labconfig" / "page_config.json"
        settings.parent.mkdir(parents=True)
        settings.write_text(json.dumps({"disabledExtensions": {MANAGER: True}}))
        return LAB
    installed = Path(sys.prefix) / "share" / "jupyter" / "labextensions" / OURS
    only = home / "only"
    only.mkdir(parents=True)
    (only / OURS).symlink_to(installed)
    options = (*LAB.options, f"--LabApp.labextensions_path={only}")
    return LAB._replace(options=options)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_violations(theme: str, panel: PanelPage) -> None:
    panel.open()
    panel.lab.set_theme(theme)
    load_axe(panel.page)
    assert findings(panel.page, ".jp-WorkbenchPanel") == []
    assert_sees_contrast(panel.button("Train"), ".jp-WorkbenchPanel")
    panel.root.evaluate("root => root.append(document.createElement('button'))")
    assert any(
        each.startswith("button-name") for each in findings(panel.page, ".jp-WorkbenchPanel")
    )
