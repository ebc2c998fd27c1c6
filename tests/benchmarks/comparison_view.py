"""The curves of 100 long runs in a browser: a notebook's page Compare, and JupyterLab's main area.

`python -m tests.benchmarks.comparison_view [--quick]` writes a comparison of 100 finished runs of 8
replicas x 100,000 steps. It prints the seconds from the click until all curves are drawn, each time
on a new page whose programs are loaded. The runs are measured, as the queue leaves them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, expect, sync_playwright

from tests.benchmarks.comparison import LONG_RUNS, QUICK_LONG_RUNS, STEPS, copies
from tests.benchmarks.growing import CONFIG, make_run
from tests.benchmarks.report import Limit
from tests.browser.conftest import FLAGS, VIEWPORT, find_chromium
from tests.browser.lab_page import LabPage
from tests.browser.lab_server import LabServer, running_lab
from tests.browser.workbench_page import cell
from tests.experiments.written import write_request
from workbench.experiments import Candidate
from workbench.experiments.comparing.measures import measure_whole
from workbench.runs import list_runs

ROUNDS, QUICK_ROUNDS = 3, 1
LOAD = """
import IPython
from workbench.config import RunConfig
from workbench.widgets.comparison.view import ComparisonView
print("loaded")
"""
SHOW = """
view = ComparisonView({folder!r}, RunConfig, lambda: None, lambda run: None)
IPython.display.display(view.box)
"""
CLICK = "window.wbvClicked = performance.now()"
COMPARE = """([runs, folder]) => {
    window.wbvClicked = performance.now();
    void window.jupyterapp.commands.execute('workbench:compare-runs', { runs, folder });
}"""
NOTEBOOK_LINES = ".wb-compare polyline"
PANEL_LINES = ".jp-WorkbenchCompare .wbv-key"
DRAWN = """([lines, count]) => {
    const drawn = document.querySelectorAll(lines).length === count;
    return drawn && performance.now() - window.wbvClicked;
}"""


def write_runs(folder: Path, count: int) -> None:
    """Write a comparison of so many long runs, with the files that its queue keeps."""
    folder.mkdir(parents=True)
    copies(folder, [make_run(folder, STEPS, "finished").dir], count)
    runs = list_runs(folder)
    candidates = [Candidate(f"run {number}", CONFIG) for number in range(count)]
    write_request(folder, candidates, enumerate(run.dir.name for run in runs))
    for run in runs:
        measure_whole(run)


def seconds_until_drawn(page: LabPage, lines: str, count: int) -> float:
    """Wait until so many lines are drawn; return the seconds since the click."""
    waited = page.page.wait_for_function(DRAWN, arg=[lines, count], polling="raf").json_value()
    return float(waited) / 1000


def notebook(page: LabPage, folder: Path, count: int) -> float:
    """Show the page Compare in a notebook; return the seconds until its curves."""
    name = f"{page.workspace}.ipynb"
    page.write_notebook(name, [cell(LOAD), cell(SHOW.format(folder=str(folder.parent)))])
    page.open()
    page.open_notebook(name)
    expect(page.run_cell(0)).to_contain_text("\nloaded")
    page.cell(1).locator(".cm-content").click()
    page.page.evaluate(CLICK)
    page.page.keyboard.press("Control+Enter")
    return seconds_until_drawn(page, NOTEBOOK_LINES, count)


def panel(page: LabPage, folder: Path, count: int) -> float:
    """Compare the runs in the main area; return the seconds until their curves."""
    runs = [run.dir.name for run in list_runs(folder)]
    page.open()
    page.page.evaluate(COMPARE, [runs, str(folder.relative_to(page.server.root))])
    return seconds_until_drawn(page, PANEL_LINES, count)


PLACES: dict[str, Callable[[LabPage, Path, int], float]] = {
    "a notebook": notebook,
    "the main area": panel,
}


def measure(browser: Browser, server: LabServer, folder: Path, place: str, count: int) -> float:
    """Return the seconds on a new page."""
    page = LabPage(browser.new_context(viewport=VIEWPORT).new_page(), server, folder)
    seconds = PLACES[place](page, folder, count)
    page.page.context.close()
    server.shut_down_kernels()
    return seconds


def main() -> int:
    """Measure and print; the exit status is 1 if a limit is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="few runs, to try the benchmark")
    options.add_argument("--place", choices=PLACES, help="only there")
    chosen = options.parse_args()
    count, rounds = (QUICK_LONG_RUNS, QUICK_ROUNDS) if chosen.quick else (LONG_RUNS, ROUNDS)
    verdicts = []
    with tempfile.TemporaryDirectory() as base, sync_playwright() as playwright:
        root = Path(base) / "root"
        folder = root / "runs" / "compare-20260101-000000-abcd"
        write_runs(folder, count)
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(FLAGS))
        with running_lab(root, Path(base) / "home") as server:
            for place in [chosen.place] if chosen.place else PLACES:
                seconds = [measure(browser, server, folder, place, count) for _ in range(rounds)]
                name = f"curves of {count} runs x {STEPS:,} steps, drawn in {place}"
                verdicts.append(Limit(name, "s", at_most=2).judge(seconds))
        browser.close()
    return int(not all(verdicts))


if __name__ == "__main__":
    sys.exit(main())
