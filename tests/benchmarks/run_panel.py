"""A run in JupyterLab's main area, over the server: the wait after a reload of the page.

`python -m tests.benchmarks.run_panel [--quick]` shows a run of 8 replicas that grows ten times a
second, at 1,000 and at 100,000 steps, and reloads the page. It prints the seconds from the restored
layout to the complete history and to the first later point.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.benchmarks.growing import make_run
from tests.benchmarks.report import Limit
from tests.benchmarks.run_view import growing
from tests.browser.conftest import FLAGS, find_chromium
from tests.browser.lab_page import LabPage
from tests.browser.lab_server import LabServer, running_lab
from tests.browser.run_page import RunPage

STEPS = (1_000, 100_000)
ROUNDS, QUICK_ROUNDS = 5, 1
NOTE_TIMES = """
const seen = new Set();
window.times = {};
(async () => {
    while (!window.jupyterapp) await new Promise(requestAnimationFrame);
    await window.jupyterapp.restored;
    window.times.restored = performance.now();
})();
new MutationObserver(() => {
    const charts = document.querySelector('.jp-WorkbenchRun .wbv-charts');
    if (Number(charts?.dataset.points)) {
        seen.add(charts.dataset.last);
        window.times.whole ??= performance.now();
    }
    if (seen.size > 1) window.times.live ??= performance.now();
}).observe(document, {childList: true, subtree: true, attributes: true});
"""
WAITED = "({restored, whole, live}) => [whole - restored, live - restored]"


def reload_seconds(browser: Browser, server: LabServer, folder: Path, steps: int) -> list[float]:
    """Return the seconds from the restored layout to the complete history, and to a live view."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.add_init_script(NOTE_TIMES)
    page = RunPage(LabPage(context.new_page(), server, folder))
    run = make_run(page.runs_dir, steps)
    with growing([run]):
        page.lab.open()
        page.show(run)
        page.wait_until_past(steps - 1)
        page.reload()
        page.page.wait_for_function("window.times.live")
        waited = page.page.evaluate(f"({WAITED})(window.times)")
        assert page.first_step <= page.steps_a_point
    context.close()
    return [max(0.0, each / 1000) for each in waited]


def main() -> int:
    """Measure and print; the exit status is 1 if a limit is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="one round, to try the benchmark")
    rounds = QUICK_ROUNDS if options.parse_args().quick else ROUNDS
    verdicts = []
    with tempfile.TemporaryDirectory() as base, sync_playwright() as playwright:
        folder = Path(base)
        (folder / "root").mkdir()
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(FLAGS))
        with running_lab(folder / "root", folder / "home") as server:
            for steps in STEPS:
                times = [reload_seconds(browser, server, folder, steps) for _ in range(rounds)]
                for what, seconds in zip(
                    ("history", "live view"), zip(*times, strict=True), strict=True
                ):
                    limit = Limit(f"{steps:,} steps, reload to {what}", "s", at_most=1)
                    verdicts.append(limit.judge(seconds))
        browser.close()
    return int(not all(verdicts))


if __name__ == "__main__":
    sys.exit(main())
