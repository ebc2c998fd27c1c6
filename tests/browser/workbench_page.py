"""A workbench that a notebook shows, with methods for a user's actions."""

from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, expect

from tests.browser.lab_page import LabPage
from workbench.catalog import PRESETS

SOURCE = "from workbench import Workbench\n\nWorkbench()"
PRESET = PRESETS["mlp_synthetic"].label
"""The preset of tests: the form's own first preset depends on the files of this machine."""
LINES = """() => {
    const view = document.querySelector('.wbv-charts');
    if (!view || !Number(view.dataset.points)) {
        return [];
    }
    const { first, last, points } = view.dataset;
    return [...view.querySelectorAll('.wbv-key')]
        .map(key => [key.textContent, Number(first), Number(last), Number(points)]);
}"""
UNFOLD = """control => {
    const all = control.closest('.wb-root').querySelector('.wb-unfold');
    if (control.closest('.wb-form') && all.checkVisibility() && !all.matches('.mod-active'))
        all.click();
    const folds = [];
    for (let fold = control; (fold = fold.parentElement.closest('.wb-fold')); )
        folds.unshift(fold);
    for (const fold of folds) {
        const title = fold.querySelector(':scope > .wb-fold-title');
        if (!title.classList.contains('mod-active'))
            title.click();
    }
}"""
LONG_RUN = {"Epochs": "1", "Steps per epoch": "10,000,000"}


def cell(source: str = SOURCE, outputs: tuple[Any, ...] = ()) -> dict[str, Any]:
    """A code cell."""
    return {
        "cell_type": "code",
        "id": f"cell-{abs(hash(source)) % 10**8}",
        "metadata": {},
        "source": source,
        "execution_count": None,
        "outputs": list(outputs),
    }


class WorkbenchPage:
    """A notebook with one workbench, opened and run; `others` are cells below it."""

    def __init__(
        self, lab: LabPage, name: str, *others: str, source: str = SOURCE, trains: bool = True
    ) -> None:
        """`trains` tells whether the config that the form opens with can be trained."""
        self.lab, self.page, self.name = lab, lab.page, name
        lab.write_notebook(name, [cell(source), *map(cell, others)])
        lab.open()
        lab.open_notebook(name)
        if trains:
            self.show()
        else:
            lab.run_cell(0)
        if source == SOURCE:
            self.choose_preset()

    @property
    def runs_dir(self) -> Path:
        """The folder of its runs."""
        return self.lab.server.root / "runs"

    @property
    def root(self) -> Locator:
        """The workbench itself."""
        return self.lab.notebook().locator(".wb-root")

    @property
    def form(self) -> Locator:
        """The bar and the further settings."""
        return self.root.locator(".wb-form")

    @property
    def state(self) -> Locator:
        """The state of the opened run."""
        return self.root.locator(".wbv-pill")

    def show(self) -> None:
        """Run the cell and wait until Train can be clicked."""
        self.lab.run_cell(0)
        expect(self.button("Train")).to_be_enabled()

    def choose_preset(self) -> None:
        """Choose `PRESET` and wait until the form shows it."""
        # Forced, because the form folds at any moment if it opens with a living run.
        self.field("Preset").select_option(label=PRESET, force=True)
        expect(self.form).to_contain_text("10,000 examples")

    def restart_kernel(self) -> None:
        """Restart the notebook's kernel and wait until it answers."""
        self.lab.ask("window.jupyterapp.shell.currentWidget.sessionContext.restartKernel()")
        expect(self.root).not_to_be_visible()
        self.lab.wait_for_kernel()

    def button(self, name: str) -> Locator:
        """Return a button by its complete label."""
        return self.root.get_by_role("button", name=name, exact=True)

    def field(self, label: str) -> Locator:
        """Return a control by its label, after opening the folds that hide it."""
        control = self.root.get_by_label(label, exact=True)
        control.evaluate(UNFOLD)
        return control

    def fill(self, values: dict[str, str]) -> None:
        """Type into fields."""
        for label, value in values.items():
            self.field(label).fill(value)

    def choose(self, strategy: str) -> None:
        """Choose a strategy by its label."""
        self.field("Strategy").select_option(label=strategy)

    @property
    def run_id(self) -> Locator:
        """The id of the opened run, beside its title."""
        return self.root.locator(".wbv-head .wbv-quiet")

    @property
    def stop(self) -> Locator:
        """The button beside Train that stops the opened run."""
        return self.root.locator(".wb-running").get_by_role("button", name="Stop")

    @property
    def lanes(self) -> Locator:
        """The tasks of the opened run."""
        return self.root.locator(".wbv-lane")

    @property
    def legend(self) -> Locator:
        """The names of the drawn lines."""
        return self.root.locator(".wbv-key")

    def train(self, **values: str) -> None:
        """Fill the form, click Train, and wait until the run trains or has trained."""
        self.fill(values)
        self.button("Train").click()
        self.show_run()

    def show_run(self) -> None:
        """Wait for the run view and scroll to it; it receives nothing while it is hidden."""
        expect(self.root.locator(".wbv")).to_be_visible()
        self.root.locator(".wbv").scroll_into_view_if_needed()

    def turn_to(self, tab: str) -> None:
        """Click the title of a tab."""
        self.root.get_by_role("tab", name=tab, exact=True).click()

    def open_run(self, run_id: str) -> None:
        """Open an earlier run from the list."""
        self.turn_to("Runs")
        row = self.root.locator(".wb-run-row", has_text=run_id)
        row.get_by_role("button", name="Open").click()
        self.show_run()
        expect(self.run_id).to_have_text(run_id)

    def wait_for_lines(self, condition: str) -> None:
        """Wait until a JavaScript `condition` on `lines`, [name, first, last, points], holds."""
        self.page.wait_for_function(f"() => {{ const lines = ({LINES})(); return {condition}; }}")

    def lines(self) -> list[list[Any]]:
        """The drawn lines that have points: name, first and last step, points."""
        return list(self.page.evaluate(LINES))

    def overflowing(self) -> list[str]:
        """Parts of the workbench that are wider than their place."""
        return list(
            self.root.evaluate(
                """root => [root, ...root.querySelectorAll('.wb-section, .wb-fields, .wb-field')]
                    .filter(part => part.scrollWidth > part.clientWidth)
                    .map(part => `${part.className}: ${part.scrollWidth} > ${part.clientWidth}`)"""
            )
        )
