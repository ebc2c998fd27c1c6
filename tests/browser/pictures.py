"""Take the pictures of README and docs: a film of a run, JupyterLab, and the concepts in real runs.

`python -m tests.browser.pictures [NAME ...]` writes to docs/images; all runs are real. The
pictures of concepts are parts of the pages that `workbench export --format html` writes.
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, FloatRect, Locator, Page, expect, sync_playwright

from tests.browser.conftest import FLAGS, find_chromium
from tests.browser.lab_page import LabPage
from tests.browser.lab_server import running_lab
from tests.browser.panel_page import PanelPage
from tests.browser.run_page import RunPage
from tests.waiting import LIMIT_SECONDS, until
from workbench import RunConfig, start_run
from workbench.experiments.scaling import should_scale
from workbench.report import write_report
from workbench.runs import Run
from workbench.verdict import judge

IMAGES = Path(__file__).parents[2] / "docs" / "images"
LAB_SIZE = {"width": 1320, "height": 742}
REPORT_SIZE = {"width": 900, "height": 4000}
"""So high that nothing scrolls."""
FRAME_SECONDS = 0.6
SHOWN_WIDTH = 960
COLORS = 80
MOST_FRAMES = 60
LAST_SECONDS = 4.0
SMALL = {"epochs": 6, "synthetic_examples": 20_000, "global_batch_size": 64}
ENDED = {
    "Mirrored, rate 0.05": RunConfig(**SMALL, learning_rate=0.05),
    "Mirrored, rate 0.005": RunConfig(**SMALL, learning_rate=0.005),
    "OneDevice, rate 0.05": RunConfig(**SMALL, strategy="one_device", learning_rate=0.05),
}
LIVING = RunConfig(epochs=40, steps_per_epoch=5_000, global_batch_size=64)
CNN = {"data": "fashion_mnist", "model": "cnn"}


@contextmanager
def lab_page(browser: Browser, folder: Path) -> Iterator[LabPage]:
    """Open a JupyterLab whose folder of runs is `folder/runs`."""
    with running_lab(folder, folder / "home") as server:
        page = browser.new_context(viewport=LAB_SIZE).new_page()
        lab = LabPage(page, server, folder)
        lab.open()
        yield lab
        assert lab.errors == []


def film(browser: Browser, folder: Path) -> None:
    """Film the workbench in JupyterLab, from the click on Train to the end of the run."""
    with lab_page(browser, folder) as lab:
        page = lab.page
        lab.command("application:toggle-left-area")
        lab.command("workbench:open-panel")
        panel = PanelPage(lab)
        panel.wait_until_live()
        panel.field("Preset").select_option(label="CNN on Fashion-MNIST")
        panel.fill({"Epochs": "1"})
        expect(panel.root.get_by_text("TensorFlow is loaded")).to_be_visible()
        frames = [frame(page)]
        panel.button("Train").click()
        while len(frames) < MOST_FRAMES:
            began = time.monotonic()
            frames.append(frame(page))
            if panel.state.count() and panel.state.inner_text() == "finished":
                break
            page.wait_for_timeout(max(0.0, FRAME_SECONDS - time.monotonic() + began) * 1000)
    shown = [1000 * FRAME_SECONDS] * (len(frames) - 1) + [1000 * LAST_SECONDS]
    path = IMAGES / "train.gif"
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=shown, loop=0)
    sys.stdout.write(f"{path}: {len(frames)} frames, {path.stat().st_size / 1e6:.2f} MB\n")


def frame(page: Page) -> Image.Image:
    """Return what a page shows, in the size and the colours of the film."""
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    height = round(shot.height * SHOWN_WIDTH / shot.width)
    small = shot.resize((SHOWN_WIDTH, height), Image.Resampling.LANCZOS)
    return small.quantize(COLORS, dither=Image.Dither.NONE)


def jupyterlab(browser: Browser, folder: Path) -> None:
    """A living run next to the sidebar, and runs compared in the dark theme."""
    ended = [trained(folder, config, name) for name, config in ENDED.items()]
    living = start_run(LIVING, folder / "runs", name="Mirrored, long")
    with lab_page(browser, folder) as lab:
        lab.command("workbench:show-runs")
        shown = RunPage(lab)
        until(lambda: living.progress.epoch > 3)
        shown.show(living)
        shown.wait_for_points()
        lab.set_theme("light")
        take_page(lab, "lab-run")
        shown.compare(*ended)
        expect(shown.row(ended[0].name)).to_contain_text("finished")
        shown.comparison.get_by_label("Smoothing").select_option(index=2)
        lab.set_theme("dark")
        take_page(lab, "lab-compare")
    living.stop()
    living.wait(LIMIT_SECONDS)


def take_page(lab: LabPage, name: str) -> None:
    """Save what a page shows, without the pointer and without a focus."""
    lab.page.mouse.move(700, 8)
    lab.page.evaluate("document.activeElement?.blur()")
    lab.page.evaluate("() => new Promise(done => requestAnimationFrame(() => done()))")
    lab.page.screenshot(path=IMAGES / f"{name}.png")


def step(browser: Browser, folder: Path) -> None:
    """The X-ray of a step: complete, its batch, and its loss scaling."""
    run = trained(folder, RunConfig(epochs=2))
    run.xray(3)
    page = report(browser, folder, [run])
    details = page.locator("details", has_text="Step 3 of epoch 1")
    details.locator("summary").click()
    picture = details.locator("svg")
    take(picture, "xray")
    take(picture, "batch", to=0.24)
    take(picture, "scaling", after=0.22, to=0.58)


def why(browser: Browser, folder: Path) -> None:
    """The verdict on eight replicas that share the cores of one CPU."""
    config = RunConfig(**CNN, replicas=8, per_replica_batch_size=16, steps_per_epoch=40, epochs=2)
    run = trained(folder, config)
    judge(run)
    part = report(browser, folder, [run]).locator(".verdict")
    take(part, "why")


def scale(browser: Browser, folder: Path) -> None:
    """The efficiency of larger batches, at the noise scale of a run."""
    config = RunConfig(**CNN, per_replica_batch_size=32, steps_per_epoch=200, epochs=1)
    run = trained(folder, config)
    should_scale(run)
    page = report(browser, folder, [run])
    take(page.locator("svg", has_text="on 2 replicas"), "scale")


def agreement(browser: Browser, folder: Path) -> None:
    """The losses of two strategies at one seed and global batch size."""
    runs = [
        trained(folder, RunConfig(strategy=strategy, global_batch_size=64, epochs=1), strategy)
        for strategy in ("one_device", "mirrored")
    ]
    take(report(browser, folder, runs).locator("figure").first, "agreement")


PICTURES: Mapping[str, Callable[[Browser, Path], None]] = {
    each.__name__: each for each in (film, jupyterlab, step, why, scale, agreement)
}


def trained(folder: Path, config: RunConfig, name: str = "") -> Run:
    """Train a run to its end, and return it."""
    run = start_run(config, folder / "runs", name=name)
    assert run.wait(LIMIT_SECONDS) == "finished"
    return run


def report(browser: Browser, folder: Path, runs: list[Run]) -> Page:
    """Open the report about runs."""
    path = write_report(runs, folder / "report.html")
    page = browser.new_page(viewport=REPORT_SIZE, device_scale_factor=1.5)
    page.goto(path.as_uri())
    return page


def take(part: Locator, name: str, after: float = 0.0, to: float = 1.0) -> None:
    """Save a part of a page, or a band of it, as shares of its height."""
    box = part.bounding_box()
    assert box is not None
    top, bottom = box["y"] + after * box["height"], box["y"] + to * box["height"]
    clip: FloatRect = {"x": box["x"], "y": top, "width": box["width"], "height": bottom - top}
    path = IMAGES / f"{name}.png"
    part.page.screenshot(path=path, clip=clip)
    sys.stdout.write(f"{path}\n")


def main() -> None:
    """Take the named pictures, or all."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("names", nargs="*", metavar="NAME", help=f"of: {', '.join(PICTURES)}")
    names = options.parse_args().names or PICTURES
    IMAGES.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(FLAGS))
        for name in names:
            with tempfile.TemporaryDirectory() as folder:
                PICTURES[name](browser, Path(folder))
        browser.close()


if __name__ == "__main__":
    main()
