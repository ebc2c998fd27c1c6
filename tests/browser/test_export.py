"""A run saved for other people by clicks: the report is downloaded and opens from disk."""

import zipfile

import pytest
from playwright.sync_api import expect

from tests.browser.axe import findings, load_axe
from tests.browser.lab_page import LabPage
from tests.browser.lab_server import LabServer
from tests.browser.workbench_page import WorkbenchPage
from tests.bundle.bundles import certified_run
from workbench.runs import Run


@pytest.fixture
def run(lab_server: LabServer) -> Run:
    """A finished run with a certificate, so that nothing is trained and no data is made."""
    return certified_run(lab_server.root / "runs")


def test_a_report_is_saved_downloaded_and_opens_from_disk(lab: LabPage, run: Run) -> None:
    workbench = WorkbenchPage(lab, "export.ipynb")
    workbench.open_run(run.id)
    workbench.turn_to("Report and export")
    report = run.dir.with_name(f"{run.id}.html")
    expect(workbench.field("Save the run as")).to_have_value(str(report))
    workbench.button("Save").click()
    link = workbench.root.locator(".wb-export").get_by_role("link", name=report.name)
    expect(link).to_have_attribute("title", str(report))
    with lab.page.expect_download() as download:
        workbench.button(f"Download {report.name}").click()
    assert download.value.suggested_filename == report.name
    assert download.value.path().read_bytes() == report.read_bytes()
    opened = lab.page.context.new_page()
    opened.goto(report.as_uri())
    expect(opened.get_by_role("heading", name=run.dated_title).first).to_be_visible()
    expect(opened.get_by_role("img", name="Loss by step")).to_be_visible()
    opened.close()

    workbench.button("Save").click()
    expect(workbench.root.get_by_text(f"Saved {run.id}-2.html, ")).to_be_visible()
    workbench.field("Save the run as").fill(str(report))
    workbench.button("Save").click()
    expect(workbench.root.get_by_text("An export never overwrites")).to_be_visible()
    expect(workbench.root.get_by_role("button", name="Download", exact=False)).to_have_count(1)

    workbench.root.get_by_role("radio", name="TensorBoard event files").check()
    workbench.button("Save").click()
    folder = f"{run.dir}-tensorboard"
    expect(workbench.root.get_by_text(f"tensorboard --logdir {folder}")).to_be_visible()
    with lab.page.expect_download() as download:
        workbench.button(f"Download {run.id}-tensorboard.zip").click()
    with zipfile.ZipFile(download.value.path()) as file:
        assert file.testzip() is None
        assert any("events.out.tfevents" in name for name in file.namelist())
    expect(workbench.root.get_by_text(f"take it from {folder}")).to_be_visible()

    assert workbench.overflowing() == []
    load_axe(lab.page)
    for theme in ("light", "dark"):
        lab.set_theme(theme)
        workbench.button("Save").scroll_into_view_if_needed()
        lab.screenshot(f"export-{theme}")
        assert findings(lab.page, ".wb-export") == []
