"""A report opens from disk without a network, in both themes, without axe violations."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.axe import findings, load_axe
from tests.bundle.bundles import certified_run
from tests.machines import LAPTOP
from tests.widgets.folders import write_run
from workbench.report import write_report
from workbench.runs.folder.files import json_text

PLANTED = "<script>document.title = 'planted'</script>"
THEMES = ("light", "dark")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("report")
    run = certified_run(root / "runs", name=PLANTED)
    (run.dir / "devices.json").write_text(json_text(LAPTOP.to_json()))
    failed = write_run(root / "runs", state="failed", steps=100, cause=PLANTED, log=PLANTED)
    return write_report([run, failed], root / "report.html")


@pytest.fixture(params=THEMES)
def page(browser: Browser, report: Path, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The report opened from disk; the test fails if it made a request or logged a message."""
    context = browser.new_context(
        color_scheme=request.param, viewport={"width": 900, "height": 700}
    )
    context.set_offline(True)
    asked: list[str] = []
    messages: list[str] = []
    page = context.new_page()
    page.on("request", lambda each: asked.append(each.url))
    page.on("console", lambda each: messages.append(each.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.goto(report.as_uri())
    yield page
    assert asked == [report.as_uri()]
    assert messages == []
    context.close()


def test_it_shows_the_runs_and_loads_nothing(page: Page) -> None:
    assert page.title() == "2 runs compared"
    for heading in ("Overview", "Differences", "Charts", "Environment", "Scripts"):
        assert page.get_by_role("heading", name=heading, exact=True).is_visible()
    assert page.get_by_role("img", name="Loss by step").is_visible()
    page.get_by_role("link", name=PLANTED).click()
    assert page.evaluate("location.hash") == "#run-1"
    assert page.get_by_text("make_strategy").first.is_hidden()
    page.get_by_text(": sha256 ").first.click()
    assert page.get_by_text("make_strategy").first.is_visible()


def test_it_takes_the_theme_of_the_reader(page: Page) -> None:
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(20, 23, 28)" if dark else "rgb(255, 255, 255)")


def test_it_fits_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.parametrize("theme", THEMES)
def test_axe_finds_no_violations(theme: str, browser: Browser, report: Path) -> None:
    context = browser.new_context(color_scheme=theme, bypass_csp=True)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(report.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    load_axe(page)
    assert findings(page, "html") == []
    context.close()
