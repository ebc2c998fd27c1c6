"""JupyterLab and Chromium for tests that need a browser.

If no Chromium is found, these tests are skipped; in CI (CI=true) they fail.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ViewportSize, sync_playwright

from tests.browser.lab_page import LabPage
from tests.browser.lab_server import LabServer, loaded_ahead, running_lab
from tests.browser.run_page import RunPage
from tests.browser.sidebar_page import choose
from workbench.runs import list_runs

NAMES = (
    # It has no window. A window holds all frames of its page until its toolbar is painted, which
    # a busy machine can delay for minutes: github.com/vercel-labs/agent-browser/issues/1859.
    "chromium-headless-shell",
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
)
MAC_CHROME = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
VIEWPORT: ViewportSize = {"width": 1280, "height": 900}
FLAGS = (
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find_chromium() -> str | None:
    """Return the browser in WORKBENCH_CHROMIUM, else Chromium or Chrome on PATH, else None."""
    if named := os.environ.get("WORKBENCH_CHROMIUM"):
        return named
    found = next((path for path in map(shutil.which, NAMES) if path), None)
    return found or (str(MAC_CHROME) if MAC_CHROME.exists() else None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One headless Chromium for all browser tests of this process."""
    executable = find_chromium()
    if executable is None:
        message = (
            "Browser tests need Chromium or Chrome on PATH, or its path in WORKBENCH_CHROMIUM; "
            "found neither. Install it (Debian: apt-get install chromium-headless-shell)."
        )
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=list(FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def lab_server(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[LabServer]:
    """One JupyterLab for all browser tests of this process, serving an empty folder.

    TensorFlow is loaded once for all its runs.
    """
    base = tmp_path_factory.mktemp("lab")
    root = base / "root"
    root.mkdir()
    home = base / "home"
    with running_lab(root, home) as server, loaded_ahead(root, home):
        yield server


@pytest.fixture
def lab(browser: Browser, lab_server: LabServer, tmp_path: Path) -> Iterator[LabPage]:
    """A new page on the JupyterLab; the test fails if the page raised an error."""
    context = browser.new_context(viewport=VIEWPORT)
    page = LabPage(context.new_page(), lab_server, tmp_path)
    yield page
    context.close()
    lab_server.shut_down_kernels()
    assert page.errors == []


@pytest.fixture
def runs(lab_server: LabServer, tmp_path: Path) -> Iterator[Path]:
    """The folder of runs that the sidebar shows; it is empty."""
    folder = lab_server.root / f"runs-{tmp_path.name}"
    folder.mkdir()
    choose(lab_server, runsFolder=folder.name)
    yield folder
    choose(lab_server)
    for run in list_runs(folder):
        if run.alive:
            run.stop()
            run.wait()
    shutil.rmtree(folder)


@pytest.fixture
def shown(lab: LabPage) -> Iterator[RunPage]:
    """A page with its own folder of runs."""
    page = RunPage(lab, "shown")
    page.runs_dir.mkdir()
    yield page
    shutil.rmtree(page.runs_dir)
