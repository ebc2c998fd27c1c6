"""Makes the README's pictures anew: `python -m tests.browser.pictures` in the project's folder."""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

from tests.browser.conftest import FLAGS, find_chromium
from tests.browser.lab_page import LabPage
from tests.browser.lab_server import running_lab
from tests.browser.workbench_page import WorkbenchPage

FOLDER = Path(__file__).parents[2] / "notebooks" / "images"
SIZE = {"width": 1320, "height": 2400}
FORM = {"Per-replica batch": "32", "Epochs": "2"}
PRESET = "CNN on Fashion-MNIST"
PRESET_EPOCHS = "10"
RUN_MS = 600_000
SHORTEN = """(root, [path, short]) => {
    for (const value of root.querySelectorAll('.wb-fact dd'))
        value.textContent = value.textContent.replace(path, short);
}"""


def main() -> None:
    """Train on Fashion-MNIST and take the workbench's picture in both themes."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        root = Path(folder) / "root"
        root.mkdir()
        chromium = playwright.chromium.launch(executable_path=find_chromium(), args=list(FLAGS))
        with running_lab(root, Path(folder) / "home") as server:
            page = chromium.new_context(viewport=SIZE).new_page()
            take(LabPage(page, server, FOLDER))
        chromium.close()


def take(lab: LabPage) -> None:
    """Train to the end and save `workbench-light.png` and `workbench-dark.png`."""
    workbench = WorkbenchPage(lab, "workbench.ipynb")
    lab.command("application:toggle-left-area")
    workbench.field("Preset").select_option(label=PRESET)
    expect(workbench.field("Epochs")).to_have_value(PRESET_EPOCHS)
    workbench.train(**FORM)
    expect(workbench.state).to_have_text("finished", timeout=RUN_MS)
    workbench.wait_for_lines("lines.length > 0 && lines[0][2] === 1874")
    expect(workbench.root.get_by_text("As TensorFlow sees it.")).to_be_visible()
    lab.page.mouse.move(0, 0)
    workbench.root.evaluate(SHORTEN, [sys.executable, ".venv/bin/python"])
    for theme in ("light", "dark"):
        lab.set_theme(theme)
        box = workbench.root.bounding_box()
        end = workbench.root.locator(".wbv-charts").bounding_box()
        assert box is not None
        assert end is not None
        bottom = end["y"] + end["height"] + 12
        clip = {"x": box["x"] - 8, "y": box["y"], "width": box["width"] + 16}
        path = FOLDER / f"workbench-{theme}.png"
        lab.page.screenshot(path=path, clip={**clip, "height": bottom - box["y"]})
        sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main()
