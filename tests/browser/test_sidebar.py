"""The sidebar: live devices and runs without a kernel, and its actions on runs."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.axe import findings, load_axe
from tests.browser.lab_page import LabPage
from tests.browser.lab_server import LAB, LabServer, running_lab
from tests.browser.sidebar_page import SidebarPage, about, choose, leave
from tests.browser.workbench_page import cell
from tests.waiting import LIMIT_SECONDS, until
from tests.widgets.folders import write_run
from workbench import RunConfig
from workbench.runs import Run, list_runs, start_run
from workbench.runs.folder.files import sha256

# A second socket that waits for this number of device messages, to let the server's time pass.
HEAR_LOOKS = """count => new Promise(done => {
    const { wsUrl, token } = window.jupyterapp.serviceManager.serverSettings;
    const socket = new WebSocket(`${wsUrl}workbench/stream?token=${token}`);
    const watch = { channel: 'devices', folder: '', kind: 'watch', seconds: 0.5 };
    socket.onopen = () => socket.send(JSON.stringify(watch));
    socket.onmessage = () => --count || (socket.close(), done());
})"""
# A headless page is never hidden, so the test sets its state.
BEHIND = """() => {
    Object.defineProperty(document, 'visibilityState', { value: 'hidden' });
    document.dispatchEvent(new Event('visibilitychange'));
}"""
REMEMBERED = """async name => {
    const { workspaces } = window.jupyterapp.serviceManager;
    const { data } = await workspaces.fetch(name);
    return data['layout-restorer:data']?.left?.current === 'workbench-sidebar';
}"""
ROOT = ".jp-WorkbenchSidebar"
SOURCES = """() => window.jupyterapp.shell.currentWidget.content.widgets
    .map(cell => cell.model.sharedModel.getSource())"""
SELECTED = "[role=option][aria-selected=true]"


@pytest.fixture
def runs(lab_server: LabServer, tmp_path: Path) -> Iterator[Path]:
    """The folder of runs that pages show; it is empty."""
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


def add(runs: Path, name: str, state: str = "finished", **more: object) -> Run:
    """Add a run; its complete folder appears in one step, as for real runs."""
    made = write_run(runs.parent / ".made", state, name=name, **more)  # type: ignore[arg-type]
    made.dir.rename(runs / made.id)
    return Run(runs / made.id)


def add_many(runs: Path, count: int) -> None:
    """Add copies of one run, each a second older than the previous one."""
    run = add(runs, "run 0")
    card = json.loads((run.dir / "run.json").read_text())
    for number in range(1, count):
        copied = runs / f"{run.id}-{number:04d}"
        shutil.copytree(run.dir, copied)
        card |= {"name": f"run {number}", "created": card["created"] - 1}
        (copied / "run.json").write_text(json.dumps(card))


def test_devices_are_updated_while_visible_and_not_requested_while_hidden(
    lab: LabPage, runs: Path
) -> None:
    sidebar = SidebarPage(lab)
    for name in ("Memory in use", "Processor busy"):
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
    lab.page.evaluate(HEAR_LOOKS, 5)
    assert frames == []

    with socket.expect_event("framereceived", about("devices")):
        lab.command("application:toggle-left-area")
    with socket.expect_event("framesent", about("devices", "unwatch")):
        sidebar.button("Devices").click()
    sidebar.button("Devices").click()
    socket.wait_for_event("framereceived", about("devices"))
    with socket.expect_event("framesent", about("devices", "unwatch")):
        lab.page.evaluate(BEHIND)


@pytest.mark.promise
def test_runs_are_listed_newest_first_with_their_results(lab: LabPage, runs: Path) -> None:
    add(runs, "the first")
    failed = add(runs, "the second", state="failed", steps=20)
    torn = add(runs, "torn")
    (torn.dir / "plan.json").write_text("{")
    sidebar = SidebarPage(lab)
    expect(sidebar.root.get_by_text("3 runs")).to_be_visible()
    expect(sidebar.pill("the first")).to_have_text("finished")
    expect(sidebar.row("the first")).to_contain_text("test accuracy 75.0 %, 156 steps")
    expect(sidebar.row("the first")).to_contain_text("Mirrored on 2 virtual replicas")
    expect(sidebar.pill("the second")).to_have_text("failed")
    expect(sidebar.row("the second")).to_contain_text("20 of 156 steps")
    expect(sidebar.pill("torn")).to_have_text("unreadable")
    expect(sidebar.row("torn")).to_contain_text("plan.json")
    assert failed.status == "failed"

    sidebar.row("torn").click()
    trouble = sidebar.root.locator(".jp-WorkbenchRuns-status[data-level=error]")
    expect(trouble).to_contain_text("Restore the file from a copy")
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


@pytest.mark.promise
def test_a_run_is_stopped_resumed_and_deleted_by_clicks(lab: LabPage, runs: Path) -> None:
    config = RunConfig(strategy="one_device", epochs=1, steps_per_epoch=200_000)
    run = start_run(config, runs, name="long one")
    sidebar = SidebarPage(lab)
    expect(sidebar.row("long one")).to_contain_text("steps/s")
    sidebar.row("long one").click()
    expect(sidebar.button("Delete…")).to_be_disabled()
    sidebar.button("Stop").click()
    expect(sidebar.status).to_have_text("Stopping “long one”.")
    expect(sidebar.pill("long one")).to_have_text("stopped")

    # The server did not start it, because the server has another state folder than the tests.
    sidebar.button("Resume").click()
    expect(sidebar.dialog).to_contain_text(sha256(run.script))
    expect(sidebar.dialog.locator("pre")).to_contain_text("def make_strategy")
    lab.page.keyboard.press("Enter")
    expect(sidebar.status).to_contain_text("you did not agree to execute its script")
    sidebar.button("Resume").click()
    sidebar.answer("Execute It")
    expect(sidebar.status).to_have_text("Resumed “long one”.")
    expect(sidebar.row("long one")).to_contain_text("steps/s")
    sidebar.row("long one").click(button="right")
    sidebar.menu_item("Stop").click()
    expect(sidebar.pill("long one")).to_have_text("stopped")

    sidebar.button("Delete…").click()
    expect(sidebar.dialog).to_contain_text("permanently")
    expect(sidebar.dialog).to_contain_text(f"long one ({run.id})")
    lab.page.keyboard.press("Enter")
    expect(sidebar.dialog).to_have_count(0)
    assert run.dir.exists()
    sidebar.button("Delete…").click()
    sidebar.answer("Delete")
    expect(sidebar.pill("long one")).to_have_text("deleted")
    expect(sidebar.status).to_have_text("Deleted “long one”.")
    assert not run.dir.exists()


def test_a_finished_run_trains_on_to_the_requested_epochs(lab: LabPage, runs: Path) -> None:
    run = start_run(
        RunConfig(strategy="one_device", epochs=1, synthetic_examples=640), runs, name="short one"
    )
    assert run.wait(LIMIT_SECONDS) == "finished"
    sidebar = SidebarPage(lab)
    sidebar.row("short one").click()
    sidebar.button("Train On").click()
    expect(sidebar.dialog.get_by_label("Total epochs")).to_have_value("2")
    sidebar.answer("Train On")
    sidebar.answer("Execute It")
    expect(sidebar.status).to_have_text("“short one” continues to epoch 2.")
    expect(sidebar.pill("short one")).to_have_text("finished")
    assert run.progress.epoch == 2


def test_a_script_goes_into_a_notebook_a_file_and_a_cell(lab: LabPage, runs: Path) -> None:
    run = add(runs, "mine")
    lab.write_notebook("take.ipynb", [cell("")])
    sidebar = SidebarPage(lab)
    lab.open_notebook("take.ipynb", kernel=False)
    sidebar.row("mine").click()
    sidebar.more("Script into Current Cell")
    expect(sidebar.status).to_have_text("Put into the notebook.")
    assert lab.page.evaluate(SOURCES) == [run.script]
    sidebar.more("Insert Cell That Opens the Run")
    expect(lab.notebook().get_by_text(f"{run.id}')")).to_be_in_viewport()
    script, opening = lab.page.evaluate(SOURCES)
    assert script == run.script
    assert opening.startswith("from workbench import open_run")

    taken = lab.server.root / f"{run.id}.py"
    taken.write_text("# mine\n")
    sidebar.more("Script to New File")
    expect(sidebar.status).to_have_text(f"Saved as {run.id}-1.py.")
    assert (lab.server.root / f"{run.id}-1.py").read_text() == run.script
    assert taken.read_text() == "# mine\n"
    sidebar.more("Script to New Notebook")
    expect(sidebar.status).to_have_text(f"Saved as {run.id}.ipynb.")
    expect(lab.notebook()).to_contain_text("make_strategy")


def test_a_row_is_dragged_into_a_notebook(lab: LabPage, runs: Path) -> None:
    run = add(runs, "mine")
    lab.write_notebook("drop.ipynb", [cell("1 + 1")])
    sidebar = SidebarPage(lab)
    lab.open_notebook("drop.ipynb", kernel=False)
    target = until(lambda: lab.cell(0).bounding_box())  # a notebook draws it again while it loads
    sidebar.row("mine").hover()
    lab.page.mouse.down()
    x, y = target["x"] + 200, target["y"] + target["height"] / 2
    with lab.page.expect_response(re.compile(f"{run.id}/script")):
        lab.page.mouse.move(x - 100, y, steps=5)
    expect(lab.page.locator(".jp-WorkbenchRuns-dragged")).to_be_visible()
    lab.page.mouse.move(x, y, steps=5)
    lab.page.mouse.up()
    expect(lab.notebook().locator(".jp-Cell")).to_have_count(2)
    expect(lab.notebook()).to_contain_text("from workbench import open_run")


def test_every_action_works_by_the_keyboard(lab: LabPage, runs: Path) -> None:
    for name in ("one", "two", "three"):
        add(runs, name)
    sidebar = SidebarPage(lab)
    keys = lab.page.keyboard
    expect(sidebar.root.get_by_text("3 runs")).to_be_visible()
    expect(sidebar.root.get_by_role("searchbox")).to_be_focused()
    keys.press("ArrowDown")
    expect(sidebar.list).to_be_focused()
    keys.press("Home")
    keys.press("Shift+ArrowDown")
    expect(sidebar.list.locator(SELECTED)).to_have_count(2)
    keys.press("Control+ArrowDown")
    active = sidebar.list.get_attribute("aria-activedescendant")
    assert active is not None
    expect(lab.page.locator(f"#{active}")).to_have_attribute("aria-posinset", "3")
    keys.press(" ")
    expect(sidebar.list.locator(SELECTED)).to_have_count(3)
    keys.press("Escape")
    keys.press("End")
    keys.press("Enter")
    expect(lab.page.locator("#jp-main-dock-panel").get_by_text("156 of 156")).to_be_visible()

    sidebar.list.focus()
    keys.press("Shift+F10")
    expect(sidebar.menu_item("Delete…")).to_be_visible()
    keys.press("Escape")
    expect(sidebar.list).to_be_focused()
    keys.press("Delete")
    expect(sidebar.dialog).to_be_visible()
    keys.press("Tab")
    keys.press("Enter")
    expect(sidebar.row("deleted")).to_have_count(1)
    keys.press("Shift+Tab")
    expect(sidebar.button(re.compile("Show new runs"))).to_be_focused()


def test_several_runs_are_deleted_after_one_question(lab: LabPage, runs: Path) -> None:
    made = [add(runs, name) for name in ("one", "two", "three")]
    sidebar = SidebarPage(lab)
    sidebar.row("one").click()
    sidebar.row("two").click(modifiers=["Control"])
    sidebar.button("Delete…").click()
    expect(sidebar.dialog).to_contain_text("Delete these 2 runs permanently?")
    sidebar.answer("Delete")
    expect(sidebar.status).to_have_text("Deleted 2 runs.")
    assert [run.dir.exists() for run in made] == [False, False, True]


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
    expect(sidebar.notice).to_contain_text("must be a readable folder")
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
