"""The JupyterLab extension in a real JupyterLab and Chromium: the live parts without a kernel.

`python -m tests.benchmarks.lab [--quick]` opens the sidebar with 1,000 runs as soon as JupyterLab
is laid out, on a new server: the status bar has just requested the runs. It scrolls the list with
the wheel. It also measures the cost of the devices view, which updates once a second: the processor
time of server and page with the sidebar shown, minus their time with the sidebar hidden. It prints
medians over its rounds and whether they reach the limits.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import psutil
from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from tests.benchmarks.many import make_runs
from tests.benchmarks.report import Limit, print_line
from tests.browser.conftest import FLAGS, find_chromium
from tests.browser.lab_page import LabPage
from tests.browser.lab_server import LabServer, running_lab
from tests.browser.sidebar_page import SHOW

RUNS = 1_000
ROUNDS, QUICK_ROUNDS = 5, 1
SCROLL_SECONDS = 5.0
WHEEL_PX = 120
DEVICES_SECONDS, QUICK_SECONDS = 30.0, 10.0
NOTE_TIMES = """([command, count]) => {
    const began = performance.now();
    const times = window.drawn = { first: 0, whole: 0 };
    const note = () => {
        const root = document.querySelector('.jp-WorkbenchSidebar');
        const now = performance.now() - began;
        times.first ||= root.querySelector('[role=option]') ? now : 0;
        const counted = root.querySelector('.jp-WorkbenchRuns-count').textContent;
        times.whole ||= counted === count ? now : 0;
    };
    const body = { childList: true, subtree: true, characterData: true };
    new MutationObserver(note).observe(document.body, body);
    window.jupyterapp.commands.execute(command);
}"""
COUNT_FRAMES = """() => {
    window.frames = [];
    const count = now => {
        window.frames.push(now);
        window.counting = requestAnimationFrame(count);
    };
    window.counting = requestAnimationFrame(count);
}"""
COUNTED = "() => { cancelAnimationFrame(window.counting); return window.frames; }"
LIMITS = {
    "first_seconds": Limit(f"{RUNS:,} runs, from the command to the first rows", "s", at_most=1),
    "whole_seconds": Limit("from the command to the count of all runs", "s", at_most=2),
    "frames": Limit("scrolling the list with the wheel", "frames/s", at_least=55),
    "devices": Limit("devices once a second, server and page", "% of a core", at_most=1),
}


def opened(browser: Browser, server: LabServer, folder: Path) -> Page:
    """Open JupyterLab without its sidebar."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    LabPage(page, server, folder).open()
    return page


def draw(page: Page) -> tuple[float, float]:
    """Show the sidebar; return the seconds until rows are drawn, and until all are counted."""
    page.evaluate(NOTE_TIMES, [SHOW, f"{RUNS:,} runs"])
    page.wait_for_function("window.drawn.whole")
    drawn = page.evaluate("window.drawn")
    return drawn["first"] / 1000, drawn["whole"] / 1000


def frames_per_second(page: Page) -> float:
    """Scroll the list with the wheel; return the frames per second."""
    page.locator(".jp-WorkbenchRuns-list").hover()
    page.evaluate(COUNT_FRAMES)
    over = time.monotonic() + SCROLL_SECONDS
    while time.monotonic() < over:
        page.mouse.wheel(0, WHEEL_PX)
    frames = page.evaluate(COUNTED)
    scrolled = page.locator(".jp-WorkbenchRuns-list").evaluate("list => list.scrollTop")
    if not scrolled:
        raise RuntimeError("The list must scroll; it did not.")
    return float(1000 * (len(frames) - 1) / (frames[-1] - frames[0]))


def server_process(server: LabServer) -> psutil.Process:
    """Return the process that listens on the server's port."""
    for child in psutil.Process().children():
        if any(each.laddr.port == server.port for each in child.net_connections("tcp")):
            return child
    raise RuntimeError("The server must run; it has ended.")


def busy_seconds(process: psutil.Process, session: CDPSession) -> tuple[float, float]:
    """Return the processor time so far of the server, and of the page's main thread."""
    times = process.cpu_times()
    metrics = session.send("Performance.getMetrics")["metrics"]
    page = next(each["value"] for each in metrics if each["name"] == "ThreadTime")
    return times.user + times.system, page


def shares(process: psutil.Process, session: CDPSession, seconds: float) -> tuple[float, float]:
    """Return the percentages of a core that server and page take during a time."""
    before, began = busy_seconds(process, session), time.monotonic()
    time.sleep(seconds)
    after, took = busy_seconds(process, session), time.monotonic() - began
    return 100 * (after[0] - before[0]) / took, 100 * (after[1] - before[1]) / took


def devices_percent(page: Page, process: psutil.Process, seconds: float) -> float:
    """Return the cost of the devices view: the page with it, minus the page without it."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    page.get_by_role("button", name="Runs", exact=True).click()
    page.mouse.move(900, 500)
    shown = shares(process, session, seconds)
    page.evaluate("window.jupyterapp.commands.execute('application:toggle-left-area')")
    page.wait_for_timeout(1_000)
    hidden = shares(process, session, seconds)
    print_line(
        f"server {shown[0]:.2f} % with devices shown, {hidden[0]:.2f} % without; "
        f"page {shown[1]:.2f} % and {hidden[1]:.2f} %"
    )
    return sum(shown) - sum(hidden)


def measure(browser: Browser, base: Path, seconds: float) -> dict[str, float]:
    """Return the figures of a round, with a new server."""
    with running_lab(base / "root", base / "home") as server:
        page = opened(browser, server, base)
        first_seconds, whole_seconds = draw(page)
        frames = frames_per_second(page)
        devices = devices_percent(page, server_process(server), seconds)
        page.context.close()
    return {
        "first_seconds": first_seconds,
        "whole_seconds": whole_seconds,
        "frames": frames,
        "devices": devices,
    }


def main() -> int:
    """Measure and print; the exit status is 1 if a limit is missed."""
    options = argparse.ArgumentParser(prog="python -m tests.benchmarks.lab", description=__doc__)
    options.add_argument("--quick", action="store_true", help="one round, to try the benchmark")
    quick = options.parse_args().quick
    figures: dict[str, list[float]] = {name: [] for name in LIMITS}
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        base = Path(place)
        make_runs(base / "root" / "runs", RUNS)
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(FLAGS))
        for _ in range(QUICK_ROUNDS if quick else ROUNDS):
            seconds = QUICK_SECONDS if quick else DEVICES_SECONDS
            for name, value in measure(browser, base, seconds).items():
                figures[name].append(value)
        browser.close()
    verdicts = [LIMITS[name].judge(values) for name, values in figures.items()]
    return int(not all(verdicts))


if __name__ == "__main__":
    sys.exit(main())
