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
from tests.benchmarks.reloaded import Waits, noting, wait_until_live
from tests.benchmarks.report import Limit
from tests.benchmarks.run_view import growing
from tests.browser.conftest import FLAGS, find_chromium
from tests.browser.lab_page import LabPage
from tests.browser.lab_server import LabServer, running_lab
from tests.browser.run_page import RunPage

STEPS = (1_000, 100_000)
ROUNDS, QUICK_ROUNDS = 5, 1


def reload_waits(browser: Browser, server: LabServer, folder: Path, steps: int) -> Waits:
    """Return the waits of a reloaded page that shows a run of this many steps."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.add_init_script(noting(".jp-WorkbenchRun"))
    page = RunPage(LabPage(context.new_page(), server, folder))
    run = make_run(page.runs_dir, steps)
    with growing([run]):
        page.lab.open()
        page.show(run)
        page.wait_until_past(steps - 1)
        page.reload()
        waits = wait_until_live(page.page)
        assert page.first_step <= page.steps_a_point
    context.close()
    return waits


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
                times = [reload_waits(browser, server, folder, steps) for _ in range(rounds)]
                for what, seconds in zip(
                    ("history", "live view"), zip(*times, strict=True), strict=True
                ):
                    limit = Limit(f"{steps:,} steps, reload to {what}", "s", at_most=1)
                    verdicts.append(limit.judge(seconds))
        browser.close()
    return int(not all(verdicts))


if __name__ == "__main__":
    sys.exit(main())
