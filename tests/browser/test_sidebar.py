"""Tests of what the sidebar shows: live devices and runs, without a kernel."""

import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.axe import findings, load_axe
from tests.browser.lab_page import LabPage
from tests.browser.lab_server import LAB, Lab, running_lab
from tests.browser.sidebar_page import SidebarPage, about, leave
from tests.browser.sidebar_runs import add, add_many
from tests.waiting import until

# A second socket that waits for this number of device messages, to let the server's time pass.
AWAIT_MESSAGES = """count => new Promise(done => {
    const { wsUrl, token } = window.jupyterapp.serviceManager.serverSettings;
    const socket = new WebSocket(`${wsUrl}workbench/stream?token=${token}`);
    const watch = { channel: 'devices', folder: '', kind: 'watch', seconds: 0.5 };
    socket.onopen = () => socket.send(JSON.stringify(watch));
    socket.onmessage = () => --count || (socket.close(), done());
})"""
# A headless page is never hidden, so the test sets its state.
HIDE_PAGE = """() => {
    Object.defineProperty(document, 'visibilityState', { value: 'hidden' });
    document.dispatchEvent(new Event('visibilitychange'));
}"""
REMEMBERED = """async name => {
    const { workspaces } = window.jupyterapp.serviceManager;
    const { data } = await workspaces.fetch(name);
    return data['layout-restorer:data']?.left?.current === 'workbench-sidebar';
}"""
ROOT = ".jp-WorkbenchSidebar"


def test_devices_are_updated_while_visible_and_not_requested_while_hidden(
    lab: LabPage, runs: Path
) -> None:
    sidebar = SidebarPage(lab)
    for name in ("Memory in use", "CPU in use"):
        expect(sidebar.root.get_by_role("meter", name=name)).to_be_visible()
    (socket,) = sidebar.sockets
    for _ in range(3):
        socket.wait_for_event("framereceived", about("devices"))

    with socket.expect_event("framesent", about("devices", "unwatch")):
        sidebar.hide()
    frames: list[str | bytes] = []

    def note(frame: str | bytes) -> None:
        if about("devices")(frame):
            frames.append(frame)

    socket.on("framereceived", note)
    socket.on("framesent", note)
    lab.page.evaluate(AWAIT_MESSAGES, 5)
    assert frames == []

    with socket.expect_event("framereceived", about("devices")):
        lab.command("application:toggle-left-area")
    with socket.expect_event("framesent", about("devices", "unwatch")):
        sidebar.button("Devices").click()
    sidebar.button("Devices").click()
    socket.wait_for_event("framereceived", about("devices"))
    with socket.expect_event("framesent", about("devices", "unwatch")):
        lab.page.evaluate(HIDE_PAGE)


@pytest.mark.promise
def test_runs_are_listed_newest_first_with_their_results(lab: LabPage, runs: Path) -> None:
    add(runs, "the first")
    failed = add(runs, "the second", state="failed", steps=20)
    torn = add(runs, "torn")
    (torn.dir / "plan.json").write_text("{")
    sidebar = SidebarPage(lab)
    expect(sidebar.root.get_by_text("3 runs")).to_be_visible()
    expect(sidebar.pill("the first")).to_have_text("finished")
    expect(sidebar.row("the first")).to_contain_text("test accuracy 75.00%, 156 steps")
    expect(sidebar.row("the first")).to_contain_text("Mirrored on 2 virtual replicas")
    expect(sidebar.pill("the second")).to_have_text("failed")
    expect(sidebar.row("the second")).to_contain_text("20 of 156 steps")
    expect(sidebar.pill("torn")).to_have_text("unreadable")
    expect(sidebar.row("torn")).to_contain_text("plan.json")
    assert failed.status == "failed"

    sidebar.row("torn").click()
    error = sidebar.root.locator(".jp-WorkbenchRuns-status[data-level=error]")
    expect(error).to_contain_text("Restore the file from a copy")
    sidebar.root.get_by_role("searchbox").fill("first finished")
    expect(sidebar.rows).to_have_count(1)
    expect(sidebar.root.get_by_text("1 of 3 runs")).to_be_visible()
    lab.page.keyboard.press("Escape")
    expect(sidebar.rows).to_have_count(3)


def test_nothing_moves_under_the_pointer_and_new_runs_wait_for_a_click(
    lab: LabPage, runs: Path
) -> None:
    add(runs, "older")
    there = add(runs, "there")
    sidebar = SidebarPage(lab)
    row = sidebar.row("there")
    row.hover()
    before = row.bounding_box()
    add(runs, "newer")
    shutil.rmtree(there.dir)
    expect(sidebar.button("Show 1 new run")).to_be_visible()
    expect(sidebar.pill("there")).to_have_text("deleted")
    assert row.bounding_box() == before
    expect(sidebar.rows).to_have_count(2)

    sidebar.button("Show 1 new run").click()
    expect(sidebar.rows.first).to_contain_text("newer")
    leave(lab.page)
    add(runs, "newest")
    expect(sidebar.rows.first).to_contain_text("newest")
    sidebar.button(re.compile("Show new runs")).click()
    expect(sidebar.row("there")).to_have_count(0)
    expect(sidebar.rows).to_have_count(3)


def test_no_row_moves_when_devices_become_known_and_unknown(
    browser: Browser, tmp_path: Path
) -> None:
    (tmp_path / "root").mkdir()
    add(tmp_path / "root" / "runs", "there")
    server = Lab(tmp_path / "root", tmp_path / "home")
    server.start()
    try:
        page = browser.new_context().new_page()
        sidebar = SidebarPage(LabPage(page, server.server, tmp_path))
        row, use = sidebar.row("there"), sidebar.root.locator(".jp-WorkbenchDevices")
        expect(use.get_by_role("meter")).to_have_count(2)
        before = row.bounding_box()
        server.kill()
        expect(use.get_by_text("unknown")).to_have_count(2)
        assert row.bounding_box() == before
        server.start()
        expect(use.get_by_role("meter")).to_have_count(2)
        assert row.bounding_box() == before
        page.context.close()
    finally:
        server.stop()


def test_only_the_visible_rows_of_a_long_list_are_on_the_page(lab: LabPage, runs: Path) -> None:
    add_many(runs, 120)
    sidebar = SidebarPage(lab)
    expect(sidebar.root.get_by_text("120 runs")).to_be_visible()
    assert sidebar.rows.count() < 40
    expect(sidebar.rows.first).to_have_attribute("aria-setsize", "120")
    sidebar.list.focus()
    lab.page.keyboard.press("End")
    last = sidebar.row("run 119")
    expect(last).to_be_in_viewport()
    expect(last).to_have_attribute("aria-posinset", "120")
    lab.page.keyboard.press("PageUp")
    expect(last).to_have_attribute("aria-selected", "false")
    assert sidebar.rows.count() < 40


def test_an_empty_folder_shows_the_next_step(lab: LabPage, runs: Path) -> None:
    sidebar = SidebarPage(lab)
    expect(sidebar.root.get_by_text(f"No runs in {runs} yet.")).to_be_visible()
    expect(sidebar.button("New workbench")).to_be_visible()
    leave(lab.page)
    add(runs, "the first")
    expect(sidebar.row("the first")).to_be_visible()


def test_a_folder_that_cannot_be_read_is_named_and_tried_again(lab: LabPage, runs: Path) -> None:
    runs.rmdir()
    runs.write_text("no folder")
    sidebar = SidebarPage(lab)
    expect(sidebar.notice).to_contain_text("cannot be read: Not a directory")
    expect(sidebar.notice).to_contain_text(str(runs))
    runs.unlink()
    runs.mkdir()
    add(runs, "there")
    sidebar.button("Try again").click()
    expect(sidebar.row("there")).to_be_visible()
    expect(sidebar.notice).not_to_be_visible()


def test_the_sidebar_returns_after_the_page_is_loaded_again(lab: LabPage, runs: Path) -> None:
    add(runs, "there")
    sidebar = SidebarPage(lab)
    expect(sidebar.row("there")).to_be_visible()
    until(lambda: lab.page.evaluate(REMEMBERED, lab.workspace))
    lab.page.reload()
    lab.wait_until_ready()
    expect(sidebar.row("there")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_violations(lab: LabPage, runs: Path, theme: str) -> None:
    add(runs, "finished")
    add(runs, "failed", state="failed", steps=20)
    sidebar = SidebarPage(lab)
    lab.set_theme(theme)
    sidebar.row("failed").click()
    load_axe(lab.page)
    assert findings(lab.page, ROOT) == []
    title = sidebar.root.get_by_role("heading", level=2)
    title.evaluate("title => title.style.cssText = 'color: #999; background: #aaa'")
    (planted,) = findings(lab.page, ROOT)
    assert planted.startswith("color-contrast")
    lab.screenshot(f"sidebar-{theme}")


def test_the_sidebar_shows_how_to_enable_the_server_extension(
    browser: Browser, tmp_path: Path
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    without = "--ServerApp.jpserver_extensions={'workbench.server': False}"
    program = LAB._replace(options=(*LAB.options, without))
    with running_lab(root, tmp_path / "home", program) as server:
        lab = LabPage(browser.new_context().new_page(), server, tmp_path)
        sidebar = SidebarPage(lab)
        expect(sidebar.notice).to_contain_text("jupyter server extension enable workbench.server")
        with lab.page.expect_event("websocket"):
            sidebar.button("Try again").click()
        expect(sidebar.notice).to_contain_text("jupyter server extension enable workbench.server")
        lab.page.context.close()
