"""JupyterLab whose server is killed and started again, and JupyterLab behind a base URL."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.benchmarks.growing import append, make_run
from tests.browser.conftest import VIEWPORT
from tests.browser.lab_page import LabPage
from tests.browser.lab_server import LAB, Lab, LabServer, running_lab
from tests.browser.living_runs import alive, trained
from tests.browser.panel_page import PanelPage
from tests.browser.run_page import RunPage
from tests.browser.sidebar_page import SidebarPage
from tests.browser.workbench_page import LONG_RUN
from tests.waiting import until
from workbench.runs import list_runs

STEPS = 2_000
NAME = "tf-distribute-workbench"
BASE_URL = "/user/someone/"
LOST = "Server Connection Error"


@pytest.fixture
def own_lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    """A JupyterLab that a test may kill; runs of the test are its runs, too."""
    monkeypatch.setenv("WORKBENCH_STATE", str(tmp_path / "home" / "state"))
    (tmp_path / "root").mkdir()
    lab = Lab(tmp_path / "root", tmp_path / "home")
    lab.start()
    yield lab
    lab.stop()


@contextmanager
def page_of(server: LabServer, browser: Browser, shots: Path) -> Iterator[LabPage]:
    """Open a page on a server; at the end it must not have raised an error.

    JupyterLab's own dialog about a lost server is closed, as a person does.
    """
    page = LabPage(browser.new_context(viewport=VIEWPORT).new_page(), server, shots)
    close = page.page.locator(".jp-Dialog", has_text=LOST).get_by_role("button", name="Close")
    page.page.add_locator_handler(close, lambda button: button.click())
    yield page
    page.page.context.close()
    assert page.errors == []


@pytest.mark.promise
def test_a_real_run_is_stopped_and_resumed_and_outlives_the_server(
    browser: Browser, own_lab: Lab, tmp_path: Path
) -> None:
    with page_of(own_lab.server, browser, tmp_path) as lab:
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

            own_lab.kill()
            expect(shown.no_answer).to_be_visible()
            lab.screenshot("no-answer")
            killed_at = shown.last_step
            until(lambda: run.progress.step > killed_at)
            own_lab.start()
            expect(shown.no_answer).to_be_hidden()
            shown.wait_until_past(killed_at)
            assert shown.first_step <= shown.steps_a_point
            expect(shown.state).to_have_text("running")


def test_the_panel_of_a_killed_server_shows_its_run_live_again_after_one_click(
    browser: Browser, own_lab: Lab, tmp_path: Path
) -> None:
    with page_of(own_lab.server, browser, tmp_path) as lab:
        panel = PanelPage(lab)
        panel.open()
        panel.train(**LONG_RUN)
        panel.wait_for_lines("lines.length > 0")
        (run,) = list_runs(panel.runs_dir)

        own_lab.kill()
        expect(panel.error).to_contain_text("The connection to the kernel is lost.")
        lab.screenshot("panel-unreachable")
        killed_at = run.progress.step
        until(lambda: run.progress.step > killed_at)
        own_lab.start()
        expect(panel.error).to_contain_text("kernel of this workbench no longer exists")
        lab.screenshot("panel-ended")
        panel.start_again()
        panel.show_run()
        expect(panel.state).to_have_text("running")
        panel.wait_for_lines(
            f"lines.length > 0 && lines[0][1] < {killed_at} && lines[0][2] > {killed_at}"
        )
        panel.stop.click()
        expect(panel.state).to_have_text("stopped")


def test_the_sidebar_shows_runs_and_devices_live_again_after_the_server_was_killed(
    browser: Browser, own_lab: Lab, tmp_path: Path
) -> None:
    with page_of(own_lab.server, browser, tmp_path) as lab, trained(tmp_path / "root/runs") as run:
        sidebar = SidebarPage(lab)
        words = sidebar.row(run.name).locator(".jp-WorkbenchRuns-words")
        expect(words).to_contain_text("steps/s")

        own_lab.kill()
        expect(sidebar.root.get_by_text("unknown")).to_have_count(2)
        lab.screenshot("sidebar-unreachable")
        killed_at, before = run.progress.step, words.inner_text()
        until(lambda: run.progress.step > killed_at)
        own_lab.start()
        expect(sidebar.root.get_by_role("meter")).to_have_count(2)
        expect(words).not_to_have_text(before)
        expect(words).to_contain_text("steps/s")
        sidebar.row(run.name).click()
        sidebar.button("Stop").click()
        expect(sidebar.pill(run.name)).to_have_text("stopped")


def test_it_works_without_a_widget_manager_and_behind_a_path(
    browser: Browser, tmp_path: Path
) -> None:
    alone = tmp_path / "labextensions"
    alone.mkdir()
    (alone / NAME).symlink_to(Path(sys.prefix) / "share/jupyter/labextensions" / NAME)
    where = f"--LabApp.labextensions_path={alone}"
    program = LAB._replace(options=(*LAB.options, where))
    (tmp_path / "root").mkdir()
    with (
        running_lab(tmp_path / "root", tmp_path / "home", program, "/some/where/") as server,
        page_of(server, browser, tmp_path) as lab,
    ):
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


def test_behind_a_base_url_the_card_opens_the_panel_and_the_sidebar_lists_what_it_trains(
    browser: Browser, tmp_path: Path
) -> None:
    (tmp_path / "root").mkdir()
    with (
        running_lab(tmp_path / "root", tmp_path / "home", base_url=BASE_URL) as server,
        page_of(server, browser, tmp_path) as lab,
    ):
        panel = PanelPage(lab)
        panel.open()
        assert f"{BASE_URL}lab" in lab.page.url
        panel.train(**{"Epochs": "2", "Steps per epoch": "100"})
        expect(panel.state).to_have_text("finished")
        (run,) = list_runs(panel.runs_dir)

        sidebar = SidebarPage(lab)
        for name in ("Memory in use", "CPU in use"):
            expect(sidebar.root.get_by_role("meter", name=name)).to_be_visible()
        expect(sidebar.pill(run.title)).to_have_text("finished")
        panel.wait_until_live()
        expect(panel.state).to_have_text("finished")
