"""Watch a run of each preset from the click to its end, and take its picture in both themes.

`python -m tests.browser.pictures [FOLDER]` in the project's folder. In the middle of each run the
page is loaded again and the kernel is restarted. The pictures of the last preset are for the
README; all others go to FOLDER.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

from tests.browser.conftest import FLAGS, find_chromium
from tests.browser.lab_page import LabPage
from tests.browser.lab_server import running_lab
from tests.browser.workbench_page import WorkbenchPage
from workbench.catalog import PRESETS
from workbench.runs import Run, list_runs

IMAGES = Path(__file__).parents[2] / "notebooks" / "images"
SIZE = {"width": 1320, "height": 2600}
EPOCHS = {"mlp_synthetic": 600, "dense_fashion_mnist": 25, "cnn_fashion_mnist": 2}
README_PRESET = "cnn_fashion_mnist"


def main() -> None:
    """Watch all presets in one JupyterLab, each in its own notebook."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", nargs="?", type=Path, metavar="FOLDER")
    asked: Path | None = options.parse_args().folder
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        others = asked or Path(folder)
        root = Path(folder) / "root"
        root.mkdir()
        chromium = playwright.chromium.launch(executable_path=find_chromium(), args=list(FLAGS))
        with running_lab(root, Path(folder) / "home") as server:
            for preset in EPOCHS:
                page = chromium.new_context(viewport=SIZE).new_page()
                lab = LabPage(page, server, others)
                run = watch(lab, preset)
                images = IMAGES if preset == README_PRESET else others
                name = "workbench" if preset == README_PRESET else preset
                picture(lab, run, images / f"{name}-{{theme}}.png")
                page.context.close()
                assert lab.errors == []
        chromium.close()


def watch(lab: LabPage, preset: str) -> Run:
    """Train to the end; meanwhile load the page again and restart the kernel."""
    workbench = WorkbenchPage(lab, f"{preset}.ipynb")
    lab.command("application:toggle-left-area")
    fill(workbench, preset)
    expect(workbench.root.get_by_text("TensorFlow is loaded")).to_be_visible()
    workbench.train()
    workbench.wait_for_lines("lines.length > 0 && lines[0][2] > 100")
    run = list_runs(workbench.runs_dir)[0]

    lab.command("docmanager:save")
    lab.page.reload()
    lab.wait_until_ready()
    workbench.wait_for_lines("lines.length > 0 && lines[0][1] <= lines[0][2] / lines[0][3] + 1")
    sys.stdout.write(f"{preset}: loaded again at step {run.progress.step:,}\n")

    workbench.restart_kernel()
    sys.stdout.write(f"{preset}: kernel restarted at step {run.progress.step:,}\n")
    workbench.show()
    expect(workbench.state).to_have_text("finished")
    workbench.wait_for_lines(f"lines.length > 0 && lines[0][2] === {run.progress.total_steps}")
    assert run.missing == []
    fill(workbench, preset)
    return run


def fill(workbench: WorkbenchPage, preset: str) -> None:
    """Choose the preset, and type its epochs after the form shows the preset's own."""
    row = PRESETS[preset]
    workbench.field("Preset").select_option(label=row.label)
    expect(workbench.field("Epochs")).to_have_value(str(row.config.epochs))
    workbench.fill({"Epochs": str(EPOCHS[preset])})


def picture(lab: LabPage, run: Run, path: Path) -> None:
    """Take a picture of the workbench, from its top to its charts, in both themes.

    `path` has a placeholder for the theme.
    """
    root = lab.notebook().locator(".wb-root")
    root.get_by_text("Where the time went").click()
    lab.page.mouse.move(0, 0)
    for theme in ("light", "dark"):
        lab.set_theme(theme)
        lab.notebook().locator(".jp-WindowedPanel-outer").evaluate("panel => panel.scrollTo(0, 0)")
        box = root.bounding_box()
        end = root.locator(".wbv").bounding_box()
        assert box is not None
        assert end is not None
        bottom = end["y"] + end["height"] + 12
        clip = {"x": box["x"] - 8, "y": box["y"], "width": box["width"] + 16}
        target = Path(str(path).format(theme=theme))
        target.parent.mkdir(parents=True, exist_ok=True)
        lab.page.screenshot(path=target, clip={**clip, "height": bottom - box["y"]})
        sys.stdout.write(f"{run.id}: {target}\n")


if __name__ == "__main__":
    main()
