"""A notebook that shows a run and nothing else."""

import re

from playwright.sync_api import Locator, expect

from tests.browser.lab_page import LabPage
from tests.browser.workbench_page import cell
from workbench.runs import Run

SOME = re.compile(r"^[1-9]\d*$")
VIEW = """
from workbench.runs import Run
from workbench.widgets.run.view import RunView
view = RunView()
view.open(Run({path!r}))
view.box
"""


class ViewPage:
    """A notebook that shows a run and nothing else."""

    def __init__(self, lab: LabPage, run: Run, *more: str, before: str = "") -> None:
        self.lab, self.page = lab, lab.page
        source = before.format() + VIEW.format(path=str(run.dir))
        lab.write_notebook("view.ipynb", [cell(source), *map(cell, more)])
        lab.open()
        lab.open_notebook("view.ipynb")
        lab.run_cell(0)

    @property
    def view(self) -> Locator:
        return self.lab.notebook().locator(".wbv").first

    @property
    def charts(self) -> Locator:
        return self.view.locator(".wbv-charts")

    @property
    def late(self) -> Locator:
        """The note that the kernel has not answered."""
        return self.view.get_by_text("No answer yet")

    def figure(self, name: str) -> Locator:
        """Return a chart with its title, buttons and text."""
        return self.view.get_by_role("figure", name=name)

    def number(self, name: str) -> Locator:
        """Return a number at a glance."""
        named = self.page.get_by_text(name, exact=True)
        return self.view.locator(".wbv-figures dl > div").filter(has=named).locator("dd").first

    def words(self, chart: int) -> Locator:
        """Return the text below a chart: 0 loss, 1 accuracy, 2 speed."""
        return self.view.locator(".wbv-words").nth(chart)

    def wait_for_points(self) -> None:
        expect(self.charts).to_have_attribute("data-points", SOME)
