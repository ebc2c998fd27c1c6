"""JupyterLab's panels of runs without a kernel, with methods for a user's actions."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, expect

from tests.browser.lab_page import LabPage
from tests.waiting import until
from workbench.runs import Run

OURS = ("workbench-run:", "workbench-compare:")
SOME = re.compile(r"^[1-9]\d*$")


class RunPage:
    """JupyterLab with panels of runs."""

    def __init__(self, lab: LabPage, folder: str = "") -> None:
        """`folder` is a folder of runs within the served folder; empty: the usual one."""
        self.lab, self.page, self.folder = lab, lab.page, folder

    @property
    def runs_dir(self) -> Path:
        return self.lab.server.root / (self.folder or "runs")

    def show(self, run: Run) -> None:
        """Show a run in the main area."""
        self.open(run.dir.name)

    def open(self, run_id: str, **more: Any) -> None:
        self.lab.command("workbench:open-run", run=run_id, folder=self.folder, **more)

    def compare(self, *runs: Run) -> None:
        """Show several runs side by side."""
        ids = [run.dir.name for run in runs]
        self.lab.command("workbench:compare-runs", runs=ids, folder=self.folder)

    def reload(self, saved: str = "") -> None:
        """Load the page again after its layout was saved, and wait until the layout is restored.

        `saved` is JSON that must stand in what was saved.
        """
        open_now = self.page.locator(".jp-WorkbenchRun, .jp-WorkbenchComparePanel").count()
        address = f"lab/api/workspaces/{self.lab.workspace}"

        def is_saved() -> bool:
            workspace = self.lab.server.ask(address)
            return _kept(workspace) == open_now and saved in json.dumps(workspace)

        until(is_saved)
        self.page.reload()
        self.lab.wait_until_ready()

    @property
    def panels(self) -> Locator:
        """All panels of single runs, also panels behind other tabs."""
        return self.page.locator(".jp-WorkbenchRun")

    @property
    def view(self) -> Locator:
        """The run that is in front."""
        return self.page.locator(".jp-WorkbenchRun:visible .wbv")

    @property
    def charts(self) -> Locator:
        return self.view.locator(".wbv-charts")

    @property
    def state(self) -> Locator:
        return self.view.locator(".wbv-pill")

    @property
    def no_answer(self) -> Locator:
        """The note that the server does not answer."""
        return self.view.get_by_text("No connection to the server.")

    def button(self, name: str) -> Locator:
        return self.view.get_by_role("button", name=name, exact=True)

    @property
    def first_step(self) -> int:
        """The first step that is drawn."""
        return int(self.charts.get_attribute("data-first") or 0)

    @property
    def last_step(self) -> int:
        """The last step that is drawn."""
        return int(self.charts.get_attribute("data-last") or 0)

    @property
    def steps_a_point(self) -> int:
        """The number of steps in a point of the charts."""
        return int(self.charts.get_attribute("data-each") or 0)

    def wait_for_points(self) -> None:
        expect(self.charts).to_have_attribute("data-points", SOME)

    def wait_until_past(self, step: int) -> None:
        """Wait until a later step is drawn."""
        self.page.wait_for_function(
            """step => {
                const charts = document.querySelector('.jp-WorkbenchRun .wbv-charts');
                return Number(charts?.dataset.last) > step;
            }""",
            arg=step,
        )

    @property
    def comparison(self) -> Locator:
        return self.page.locator(".jp-WorkbenchCompare:visible")

    def row(self, name: str) -> Locator:
        """Return the row of a run in the table of the comparison."""
        return self.comparison.locator("tbody tr", has_text=name)

    @property
    def status_bar(self) -> Locator:
        """The runs in progress."""
        return self.page.locator(".jp-WorkbenchStatus")

    def notification(self, text: str) -> Locator:
        return self.page.locator(".Toastify__toast", has_text=text)


def _kept(workspace: dict[str, Any]) -> int:
    """Return the number of our panels that a workspace restores."""
    layout = workspace["data"].get("layout-restorer:data", {})
    words = json.dumps(layout.get("main", {}).get("dock", {})).split('"')
    return sum(word.startswith(OURS) for word in words)
