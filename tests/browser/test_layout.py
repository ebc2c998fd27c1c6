"""No text is cut off, covered or out of sight on any view, at the widths of usual screens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.lab_page import LabPage
from tests.browser.layout import layout_faults
from tests.browser.panel_page import PanelPage
from tests.browser.run_page import RunPage
from tests.browser.sidebar_page import SidebarPage
from tests.experiments.scalings import KNOWN_NOISE, scaling_of
from tests.experiments.timed_runs import TWO, timed_run
from tests.experiments.written import write_comparison, write_matrix
from tests.report.evaluations import EVALUATION
from tests.verdict import verdicts
from tests.widgets.folders import CONFIG, write_model, write_run
from workbench.experiments import Cell, Group, make_table, recommend
from workbench.report import Compared
from workbench.report import write_comparison as write_page
from workbench.runs import Run
from workbench.runs.folder.files import json_text

WIDTHS = (1280, 1440)
HEIGHT = 900
RATES = {"OneDevice": (1000.0, 1010.0, 990.0), "Mirrored x 2": (1005.0, 1015.0, 985.0)}
REASON = "strategy must be one that this machine can run; received tpu: no TPU was found here."
CELLS = [
    Cell("one_device", "custom", "pass", keras="3.15.1", max_loss_difference=0.0,
         max_weight_difference=0.0, steps_per_second=1234.5),
    Cell("parameter_server", "fit", "fail", REASON, "3.15.1", max_loss_difference=0.25),
    Cell("tpu", "custom", "unavailable", REASON),
]  # fmt: skip
RATES_OF_RUNS = (0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.03, 0.05)
CLOSER_LOOKS = {
    "X-ray of one step": "Step (from 1)",
    "Why is it slow?": "Seconds of timing",
    "Should I scale?": "Batches to measure",
    "Predictions": None,
    "Report and export": "Save the run as",
}
"""The pages about a run, each with a control that it has."""


class Looks:
    """The faults of each view at each width, by the view and the width."""

    def __init__(self, lab: LabPage) -> None:
        self._lab = lab
        self.faults: dict[str, list[str]] = {}

    def at(self, view: str, shown: Locator) -> None:
        """Note the faults of a view at all widths, and take its pictures."""
        for width in WIDTHS:
            self._lab.page.set_viewport_size({"width": width, "height": HEIGHT})
            if found := layout_faults(shown):
                self.faults[f"{view}, {width} px"] = found
            self._lab.screenshot(f"{view.replace(' ', '-')}-{width}")


@pytest.fixture
def measured(runs: Path) -> Run:
    """A finished run with everything that can be measured of it, beside seven similar runs."""
    for rate in RATES_OF_RUNS[1:]:
        write_run(runs, config=replace(CONFIG, learning_rate=rate))
    run = verdicts.timed_run(runs)
    write_model(run.dir)
    (run.dir / "evaluation.json").write_text(json.dumps(EVALUATION))
    np.savez(run.dir / "predictions.npz", labels=[0], answers=[1], confidence=[0.5])
    (run.dir / "noise.json").write_text(json_text(scaling_of(KNOWN_NOISE).to_json()))
    found = verdicts.verdict_on(run, {"host": 1e-3})
    (run.dir / "verdict.json").write_text(json_text(found.to_json()))
    return run


@pytest.fixture
def looks(lab: LabPage) -> Iterator[Looks]:
    """Every view that a test looks at must be without faults."""
    found = Looks(lab)
    yield found
    text = "\n".join(f"{view}:\n  " + "\n  ".join(each) for view, each in found.faults.items())
    assert not found.faults, text


PLANTED = {
    "cut off": "<div style='overflow: hidden; width: 40px; white-space: nowrap'>A long text</div>",
    "cut off by a list": "<select style='width: 60px'><option>A very long choice</option></select>",
    "out of sight": "<div style='overflow: auto; width: 90px; white-space: nowrap'>"
    "A sentence that nobody sees without scrolling</div>",
    "overlap": "<div style='position: relative'><label>Deterministic</label>"
    "<button style='position: absolute; left: 50px; top: 0'>i</button></div>",
    "wider than its box": "<p style='width: 40px'>Unbreakable</p>",
}
READABLE = (
    "<div title='All of it' style='overflow: hidden; width: 40px; white-space: nowrap; "
    "text-overflow: ellipsis'>A long text</div>"
    "<span style='position: absolute; clip-path: inset(50%); overflow: hidden; width: 1px'>For "
    "screen readers</span><div style='overflow: auto; height: 20px'>Many<br>lines</div>"
)


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_found(browser: Browser, fault: str) -> None:
    page = browser.new_page()
    page.set_content(READABLE + PLANTED[fault])
    found = layout_faults(page.locator("body"))
    page.close()
    assert [each.partition(":")[0] for each in found] == [fault.removesuffix(" by a list")]


def test_the_sidebar_tells_similar_runs_apart(lab: LabPage, measured: Run, looks: Looks) -> None:
    sidebar = SidebarPage(lab)
    expect(sidebar.rows).to_have_count(len(RATES_OF_RUNS))
    titles = sidebar.rows.locator(".jp-WorkbenchRuns-title").all_inner_texts()
    assert len({title.rpartition(",")[0] for title in titles}) == len(titles)
    sidebar.row(measured.title).click()
    whole = "titles => titles.every(each => each.scrollHeight <= each.clientHeight)"
    assert sidebar.rows.locator(".jp-WorkbenchRuns-title").evaluate_all(whole)
    looks.at("sidebar", sidebar.root)


def test_the_launcher_and_the_main_area(
    lab: LabPage, runs: Path, measured: Run, looks: Looks
) -> None:
    lab.open()
    looks.at("launcher", lab.page.locator(".jp-Launcher:visible"))
    page = RunPage(lab, runs.name)
    page.show(measured)
    page.wait_for_points()
    looks.at("run in the main area", page.view)
    others = [Run(each) for each in sorted(runs.iterdir()) if (each / "run.json").exists()]
    page.compare(*others)
    expect(page.row(measured.title)).to_contain_text("finished")
    looks.at("comparison in the main area", page.comparison)


def open_all(part: Locator) -> None:
    """Open every fold of a part of the page."""
    part.evaluate(
        """part => {
            for (const title of part.querySelectorAll('.wb-fold-title:not(.mod-active)'))
                title.click();
            for (const fold of part.querySelectorAll('details')) fold.open = true;
        }"""
    )


def test_the_form_and_every_tab(lab: LabPage, runs: Path, measured: Run, looks: Looks) -> None:
    write_comparison(runs, RATES)
    write_matrix(runs, "matrix-20260101-000000", CELLS)
    panel = PanelPage(lab)
    panel.open()
    looks.at("form", panel.form)
    panel.button("More settings").click()
    open_all(panel.form)
    looks.at("all settings", panel.form)
    for tab, text in {"Plan": "steps", "Script": "make_strategy", "Batch and rate": "Memory limit",
                      "Agreement": REASON}.items():  # fmt: skip
        panel.turn_to(tab)
        expect(panel.root.get_by_text(text).first).to_be_visible()
        looks.at(tab, panel.root)
    panel.turn_to("Compare")
    expect(panel.root.get_by_role("region", name="Comparison table")).to_contain_text("OneDevice")
    looks.at("Compare", panel.root)


def test_the_run_with_its_closer_looks(lab: LabPage, measured: Run, looks: Looks) -> None:
    panel = PanelPage(lab)
    panel.open()
    panel.turn_to("Runs")
    expect(panel.root.locator(".wb-run-row", has_text=measured.id)).to_be_visible()
    looks.at("Runs", panel.root)
    panel.open_run(measured.id)
    panel.wait_for_lines("lines.length > 0")
    open_all(panel.root.locator(".wbv"))
    looks.at("Run", panel.root)
    heading = panel.root.get_by_role("heading", name="A closer look")
    box = heading.bounding_box()
    assert box is not None
    assert box["height"] > 10
    for tab, label in CLOSER_LOOKS.items():
        panel.turn_to(tab)
        if label is not None:
            expect(panel.root.get_by_label(label, exact=True)).to_be_visible()
        looks.at(tab, panel.root)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_report_of_a_comparison(
    browser: Browser, measured: Run, tmp_path: Path, width: int
) -> None:
    slower = timed_run(tmp_path, TWO, 985.0)
    groups = [Group(each.dated_title, (each,)) for each in (measured, slower)]
    groups.append(Group("TPU", reason=REASON))
    found = Compared(groups, make_table(groups), recommend(groups))
    context = browser.new_context(viewport={"width": width, "height": HEIGHT})
    page = context.new_page()
    page.goto(write_page(found, tmp_path / "report.html").as_uri())
    open_all(page.locator("body"))
    assert layout_faults(page.locator("body")) == []
    page.screenshot(path=tmp_path / f"report-{width}.png", full_page=True)
    context.close()
