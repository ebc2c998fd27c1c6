"""The wheel in other notebooks than JupyterLab: the form, a complete run, nothing cut off."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests import virtualenvs, wheels
from tests.browser.cells import CELL_OF_OWN_MODEL
from tests.browser.hosts import HOSTS
from tests.browser.lab_page import LabPage
from tests.browser.lab_server import running_lab
from tests.browser.workbench_page import LONG_RUN, WorkbenchPage
from tests.bundle.bundles import certified_run
from workbench.runs import list_runs
from workbench.widgets.host_notes import CELL

WHOLE = "root => root.closest('.jp-Cell-outputArea, .output').scrollHeight"
SEEN = "root => root.closest('.jp-Cell-outputArea, .output').clientHeight"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that users install."""
    return wheels.build(tmp_path_factory.mktemp("built"))


@pytest.fixture(params=HOSTS)
def page(
    request: pytest.FixtureRequest,
    browser: Browser,
    wheel: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[LabPage]:
    """A page on a host that has the wheel; the test fails if the page raised an error.

    Classic Notebook has Colab's versions, so it gets Colab's environment variable too.
    """
    host = HOSTS[request.param]
    assert request.config.cache is not None
    python = host.make(request.config.cache.mkdir(request.param))
    virtualenvs.put_in(python, wheel)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    if host is HOSTS["classic-notebook"]:
        monkeypatch.setenv("COLAB_RELEASE_TAG", "any")
    root = tmp_path / "root"
    root.mkdir()
    with running_lab(root, tmp_path / "home", host.program(python)) as server:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        shown = host.page(context.new_page(), server, tmp_path)
        yield shown
        context.close()
        server.shut_down_kernels()
    assert shown.errors == []


def test_a_click_trains_to_a_result_and_everything_is_visible(page: LabPage) -> None:
    workbench = WorkbenchPage(page, "train.ipynb")
    workbench.root.locator(".wb-hardware .wb-fold-title").click()
    expect(workbench.root.get_by_text("As TensorFlow sees it.")).to_be_visible()
    expect(workbench.root.get_by_role("meter", name="Memory in use")).to_be_visible()
    workbench.train(Epochs="3")
    expect(workbench.state).to_have_text("finished")
    workbench.wait_for_lines("lines.length > 0 && lines.every(l => l[2] === 234)")
    assert workbench.root.evaluate(WHOLE) == workbench.root.evaluate(SEEN)
    for tab in ("Script", "Agreement", "Runs", "Plan"):
        workbench.turn_to(tab)
        assert workbench.overflowing() == []
    page.screenshot("trained")
    for theme in page.themes:
        page.set_theme(theme)
        page.screenshot(f"trained-{theme}")


def test_keys_pressed_in_the_workbench_do_not_act_on_the_notebook(page: LabPage) -> None:
    run = certified_run(page.server.root / "runs")
    workbench = WorkbenchPage(page, "keys.ipynb", "1 + 1", "2 + 2")
    workbench.open_run(run.id)
    workbench.turn_to("Report and export")
    kinds = workbench.root.get_by_role("radio")
    selected = re.compile(r"\b(jp-mod-)?selected\b")
    for control in (kinds.first, workbench.button("Save")):
        control.focus()
        for key in ("d", "d", "b", "a", "x", "j", "Shift+M"):
            page.page.keyboard.press(key)
        expect(control).to_be_focused()
        expect(page.cells()).to_have_count(3)
        expect(page.cell(0)).to_have_class(selected)
    kinds.first.focus()
    page.page.keyboard.press("ArrowDown")
    expect(kinds.nth(1)).to_be_checked()
    expect(page.cell(0)).to_have_class(selected)
    page.cell(1).click()
    page.page.keyboard.press("Escape")
    page.page.keyboard.press("b")
    expect(page.cells()).to_have_count(4)


@pytest.mark.parametrize("page", ["notebook-7"], indirect=True)
def test_a_link_to_a_saved_file_opens_its_page_in_notebook_7(page: LabPage) -> None:
    run = certified_run(page.server.root / "runs")
    workbench = WorkbenchPage(page, "links.ipynb")
    workbench.open_run(run.id)

    def opens(name: str, address: str, content: str) -> None:
        link = workbench.root.get_by_role("link", name=name)
        with page.page.expect_popup() as opened:
            link.click()
        shown = opened.value
        shown.wait_for_url(re.compile(re.escape(address) + "$"))
        expect(shown.get_by_text(content).first).to_be_visible()
        shown.screenshot(path=page.shots / f"link{Path(name).suffix}.png")
        shown.close()

    workbench.turn_to("Report and export")
    workbench.button("Save").click()
    opens(f"{run.id}.html", f"/files/runs/{run.id}.html", run.dated_title)
    workbench.root.get_by_role("radio", name="CSV tables").check()
    workbench.button("Save").click()
    opens(f"{run.id}-csv", f"/tree/runs/{run.id}-csv", "runs.csv")
    workbench.turn_to("Script")
    workbench.button("Save .py").click()
    opens("train.py", "/edit/train.py", "import tensorflow as tf")
    workbench.button("Save .ipynb").click()
    opens("train.ipynb", "/notebooks/train.ipynb", "import tensorflow as tf")


@pytest.mark.parametrize("page", ["classic-notebook"], indirect=True)
def test_functions_of_a_cell_train_under_colabs_versions_and_their_script_runs_alone(
    page: LabPage, tmp_path: Path
) -> None:
    workbench = WorkbenchPage(page, "own.ipynb", source=CELL_OF_OWN_MODEL)
    for field, function in (("Model", "build_model()"), ("Data", "load_data()")):
        expect(workbench.field(field).locator("option:checked")).to_have_text(function)
    expect(workbench.button("Train")).to_be_enabled()
    workbench.train(**{"Epochs": "2", "Steps per epoch": "20"})
    expect(workbench.state).to_have_text("finished")
    workbench.wait_for_lines("lines.some(l => l[0] === 'virtual replica 1' && l[2] === 40)")
    page.screenshot("own")
    run = list_runs(workbench.runs_dir)[0]
    assert run.missing == []

    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / "train.py").write_text(run.script, encoding="utf-8")
    interpreter = json.loads((run.dir / "run.json").read_text())["interpreter"]
    command = [interpreter, "train.py"]
    done = subprocess.run(command, cwd=alone, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "\nepoch 2: " in done.stdout


@pytest.mark.parametrize("page", ["classic-notebook"], indirect=True)
def test_buttons_are_answered_while_a_cell_follows_the_run(page: LabPage) -> None:
    workbench = WorkbenchPage(page, "follow.ipynb", CELL)
    keeping = workbench.root.get_by_text("They are lost when this runtime ends. To keep them,")
    expect(keeping).to_be_visible()
    workbench.train(**LONG_RUN)
    expect(workbench.state).to_have_text("running")
    note = workbench.root.get_by_text("Run these two lines in a cell: it runs until the run ends")
    expect(note).to_be_visible()
    expect(workbench.root.get_by_text(CELL)).to_be_visible()
    page.screenshot("note")

    cell = page.run_cell(1)
    expect(note).not_to_be_visible()
    workbench.stop.click()
    expect(workbench.state).to_have_text("stopped")
    expect(cell.get_by_text(": stopped.")).to_be_visible()
