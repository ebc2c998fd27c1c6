"""A run downloaded by one click, and restored from its archive after its folder was deleted."""

import shutil
import zipfile

import pytest
from playwright.sync_api import expect

from tests.browser.lab_page import LabPage
from tests.browser.lab_server import LabServer
from tests.browser.workbench_page import WorkbenchPage
from tests.waiting import until
from workbench import RunConfig, start_run
from workbench.devices import detect
from workbench.runs import Run

DOWNLOAD = "Download run (.zip)"
BUSY = """
import pathlib, time
pathlib.Path("busy").touch()
while pathlib.Path("busy").exists():
    time.sleep(0.01)
"""


@pytest.fixture
def archived_run(lab_server: LabServer) -> Run:
    """A finished run whose copy in the archive is complete."""
    archive = str(lab_server.root / "archive")
    config = RunConfig(per_replica_batch_size=64, epochs=2, archive=archive)
    run = start_run(config, lab_server.root / "runs", detect(import_tensorflow=False))
    assert run.wait() == "finished", run.failure
    until(lambda: any(event.get("whole") for event in run.events()))
    return run


def test_a_run_is_downloaded_by_one_click_and_restored_from_its_archive(
    lab: LabPage, archived_run: Run
) -> None:
    run, title = archived_run, archived_run.title
    workbench = WorkbenchPage(lab, "along.ipynb", BUSY)
    workbench.open_run(run.id)
    lane = workbench.lanes.nth(1)
    expect(lane).to_contain_text("archivecopiedstep 156")
    expect(lane).to_contain_text("continues from step 156")
    with lab.page.expect_download() as download:
        workbench.button(DOWNLOAD).click()
    assert download.value.suggested_filename == f"{run.id}.zip"
    with zipfile.ZipFile(download.value.path()) as file:
        assert file.testzip() is None
        names = {name.removeprefix(f"{run.id}/") for name in file.namelist()}
    assert {"train.py", "config.json", "plan.json", "model.keras"} < names
    assert "checkpoints/checkpoint" in names
    message = workbench.root.get_by_text("was passed to the browser")
    expect(message).to_contain_text(f"take it from {run.dir}.zip")
    expect(message).to_contain_text("iB")

    lab.run_cell(1)
    until((lab.server.root / "busy").exists)
    with lab.page.expect_download():
        workbench.button(DOWNLOAD).click()
        expect(workbench.root.get_by_text("Waiting for the kernel")).to_be_visible()
        (lab.server.root / "busy").unlink()

    shutil.rmtree(run.dir)
    workbench.turn_to("Runs")
    expect(workbench.root.get_by_text(f"{title} was deleted.")).to_be_visible()
    workbench.button("Restore from an archive ...").click()
    folder = workbench.field("Restore from")
    folder.fill(str(lab.server.root / "archive"))
    folder.press("Enter")
    expect(workbench.field("Run in the archive").locator("option:checked")).to_have_text(
        f"{title} ({run.id}), finished"
    )
    workbench.button("Restore").click()
    expect(workbench.root.locator(".wbv-title")).to_have_text(title)
    workbench.turn_to("Runs")
    expect(workbench.root.get_by_text("was restored: finished at step 156.")).to_be_visible()
    expect(workbench.root.get_by_title(f"Open {title}")).to_be_enabled()
    assert run.status == "finished"
