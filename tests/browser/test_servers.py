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
from tests.browser.run_page import RunPage
from tests.waiting import until

STEPS = 2_000
NAME = "tf-distribute-workbench"
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
