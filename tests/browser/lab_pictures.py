"""Take pictures of JupyterLab: a living run, a comparison and the panel, next to the sidebar.

`python -m tests.browser.lab_pictures [FOLDER]` in the project's folder. All runs in them are real.
Without FOLDER, only the README's pictures are taken; with it, all of them, in both themes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

from tests.browser.conftest import FLAGS, find_chromium
from tests.browser.lab_page import THEMES, LabPage
from tests.browser.lab_server import running_lab
from tests.browser.panel_page import PanelPage
from tests.browser.pictures import IMAGES
from tests.browser.run_page import SOME, RunPage
from tests.waiting import LIMIT_SECONDS, until
from workbench import RunConfig, start_run
from workbench.runs import Run

README = ("lab-run-light", "lab-compare-dark")
SIZE = {"width": 1320, "height": 860}
SMALL = {"epochs": 6, "synthetic_examples": 20_000, "global_batch_size": 64}
ENDED = {
    "Mirrored, rate 0.05": RunConfig(**SMALL, learning_rate=0.05),
    "Mirrored, rate 0.005": RunConfig(**SMALL, learning_rate=0.005),
    "OneDevice, rate 0.05": RunConfig(**SMALL, strategy="one_device", learning_rate=0.05),
}
LIVING = RunConfig(epochs=40, steps_per_epoch=5_000, global_batch_size=64)


def main() -> None:
    """Train, open the pages, and take the pictures."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", nargs="?", type=Path, default=IMAGES, metavar="FOLDER")
    shots: Path = options.parse_args().folder
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        root = Path(folder) / "root"
        runs_dir = root / "runs"
        runs_dir.mkdir(parents=True)
        ended = [trained(config, runs_dir, name) for name, config in ENDED.items()]
        chromium = playwright.chromium.launch(executable_path=find_chromium(), args=list(FLAGS))
        with running_lab(root, Path(folder) / "home") as server:
            page = chromium.new_context(viewport=SIZE).new_page()
            lab = LabPage(page, server, shots)
            living = start_run(LIVING, runs_dir, name="Mirrored, long")
            look(RunPage(lab), living, ended)
            living.stop()
            living.wait(LIMIT_SECONDS)
            assert lab.errors == []
        chromium.close()


def trained(config: RunConfig, runs_dir: Path, name: str) -> Run:
    """Train a run to its end, and return it."""
    run = start_run(config, runs_dir, name=name)
    assert run.wait(LIMIT_SECONDS) == "finished"
    return run


def look(page: RunPage, living: Run, ended: list[Run]) -> None:
    """Show everything once, and take the pictures."""
    lab = page.lab
    lab.open()
    lab.command("workbench:show-runs")
    until(lambda: living.progress.epoch > 3)
    page.show(living)
    page.wait_for_points()
    take(lab, "lab-run")
    page.compare(*ended)
    expect(page.row(ended[0].name)).to_contain_text("finished")
    page.comparison.get_by_label("Smoothing").select_option(index=2)
    take(lab, "lab-compare")
    panel = PanelPage(lab)
    lab.command("workbench:open-panel")
    panel.wait_until_live()
    panel.root.locator(".wb-hardware .wb-fold-title").first.click()
    expect(panel.root.get_by_text("As TensorFlow sees it.")).to_be_visible()
    expect(panel.root.locator(".wbv-charts")).to_have_attribute("data-points", SOME)
    take(lab, "lab-panel")


def take(lab: LabPage, name: str) -> None:
    """Save what the page shows, in each theme in which the picture is wanted."""
    lab.page.mouse.move(700, 8)
    lab.page.evaluate("document.activeElement?.blur()")
    for theme in THEMES:
        if lab.shots == IMAGES and f"{name}-{theme}" not in README:
            continue
        lab.set_theme(theme)
        lab.page.evaluate("() => new Promise(done => requestAnimationFrame(() => done()))")
        sys.stdout.write(f"{lab.screenshot(f'{name}-{theme}')}\n")


if __name__ == "__main__":
    main()
