"""The run view in a real JupyterLab and Chromium: frames, kernel time, bytes, memory, waits.

`python -m tests.benchmarks.run_view [--quick]` shows runs of 8 replicas x 100,000 points that grow
ten times a second, one and four on a page. It reloads the page and opens a finished run of
1,000,000 steps. It prints medians over its rounds and whether they reach the limits. A process of
the benchmark writes the records: nothing trains meanwhile.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
from playwright.sync_api import Browser, sync_playwright

from tests.benchmarks.growing import make_run
from tests.benchmarks.report import Limit, print_line
from tests.browser.conftest import FLAGS, find_chromium
from tests.browser.lab_page import LabPage
from tests.browser.lab_server import LabServer, running_lab
from tests.browser.workbench_page import cell
from workbench.runs import Run
from workbench.widgets.run.widget import STATIC

FRONT_END = [STATIC / "runview.js", STATIC / "runview.css"]
POINTS = 100_000
LONG_STEPS = 1_000_000
WATCH_SECONDS = 10
ROUNDS, QUICK_ROUNDS = 3, 1
SHOW = """
import json, time, IPython
from workbench.runs import Run
from workbench.feed import RunFeed
from workbench.widgets.run import view as run_view

updates, turns, sizes = [], [], []
def timed(real, times):
    def turn(*given):
        began = time.thread_time()
        result = real(*given)
        times.append(time.thread_time() - began)
        return result
    return turn
def measured(real):
    def news(feed, parts):
        began = time.thread_time()
        message = real(feed, parts)
        if message is not None and parts is None:
            updates.append(time.thread_time() - began)
            sizes.append(message.bytes + len(json.dumps(message.content)))
        return message
    return news
sent = []
run_view.RunWidget.send_news = timed(run_view.RunWidget.send_news, sent)
RunFeed.news = measured(RunFeed.news)
run_view._Follower.poll = timed(run_view._Follower.poll, turns)
views = [run_view.RunView() for _ in {runs}]
for view in views:
    IPython.display.display(view.box)
"""
OPEN = "for view, run in zip(views, {runs}): view.open(Run(run))"
PRINT_TIMES = "print(json.dumps([updates, sent, turns, sizes]))"
BUSY = """code => {
    const { kernel } = window.jupyterapp.shell.currentWidget.sessionContext.session;
    kernel.requestExecute({ code });
}"""
SPIN = """
import time
end = time.monotonic() + {seconds}
while time.monotonic() < end:
    sum(range(1000))
"""
CHANGES = """seconds => new Promise(done => {
    const charts = document.querySelector('.wbv-charts');
    const ends = new Set();
    const changed = new MutationObserver(() => ends.add(charts.dataset.last));
    changed.observe(charts, {attributes: true});
    setTimeout(() => done(ends.size), 1000 * seconds);
})"""
FRAMES = """seconds => new Promise(done => {
    let frames = 0;
    const began = performance.now();
    const count = now => {
        frames += 1;
        if (now - began < 1000 * seconds) requestAnimationFrame(count);
        else done(1000 * frames / (now - began));
    };
    requestAnimationFrame(count);
})"""
NOTE_TIMES = """new MutationObserver(() => {
    const now = performance.now();
    if (document.querySelector('.wbv')) window.wbvRendered ??= now;
    if (Number(document.querySelector('.wbv-charts')?.dataset.points)) window.wbvDrawn ??= now;
}).observe(document, {childList: true, subtree: true, attributes: true})"""
DRAWN = """count => {
    const charts = [...document.querySelectorAll('.wbv-charts')];
    return charts.length >= count && charts.every(chart => Number(chart.dataset.points));
}"""
EXECUTE = """async code => {
    const { kernel } = window.jupyterapp.shell.currentWidget.sessionContext.session;
    window.wbvClicked = performance.now();
    window.wbvDrawn = undefined;
    let text = '';
    const future = kernel.requestExecute({ code });
    future.onIOPub = message => { text += message.content.text ?? ''; };
    await future.done;
    return text;
}"""


LIMITS = {
    "one_frames": Limit("one live run of 8 x 100,000 points", "frames/s", at_least=55),
    "busy_updates": Limit("its updates while a cell is busy", "per second", at_least=5),
    "kernel_ms": Limit("kernel time of its updates", "ms", at_most=1),
    "byte_growth": Limit("bytes of its updates over those at 1,000 points", "times", at_most=1.1),
    "four_frames": Limit("four such runs on a page", "frames/s", at_least=50),
    "memory_mb": Limit("memory of the page's process with four such runs", "MB", at_most=600),
    "reload_seconds": Limit("after a page reload, from render to charts", "s", at_most=1),
    "front_end_kb": Limit(
        "the front end on the way to a page, gzipped", "kB", at_most=60, always=True
    ),
    "open_seconds": Limit("opening 1,000,000 steps x 8, click to first chart", "s", at_most=1),
}


class Bench:
    """A notebook page that shows runs."""

    def __init__(self, browser: Browser, server: LabServer, folder: Path, name: str) -> None:
        context = browser.new_context(viewport={"width": 1280, "height": 2600})
        context.add_init_script(NOTE_TIMES)
        self.lab = LabPage(context.new_page(), server, folder)
        self.page, self.name = self.lab.page, name

    def show(self, runs: list[Run]) -> None:
        """Show the runs and wait until all are drawn."""
        paths = [str(run.dir) for run in runs]
        source = SHOW.replace("{runs}", repr(paths))
        self.lab.write_notebook(self.name, [cell(source)])
        self.lab.open()
        self.lab.open_notebook(self.name)
        self.lab.run_cell(0)
        self.page.wait_for_selector(".wbv")
        self.open(runs)

    def open(self, runs: list[Run]) -> float:
        """Open runs in the views; return the seconds until all are drawn."""
        self.execute(OPEN.replace("{runs}", repr([str(run.dir) for run in runs])))
        self.page.wait_for_function(DRAWN, arg=len(runs))
        waited = self.page.evaluate("window.wbvDrawn - window.wbvClicked")
        return float(waited) / 1000

    def execute(self, code: str) -> str:
        """Run code in the notebook's kernel; return what it printed."""
        return str(self.page.evaluate(EXECUTE, code))

    def frames_per_second(self) -> float:
        """Return the frames per second while the runs grow."""
        return float(self.page.evaluate(FRAMES, WATCH_SECONDS))

    def busy_updates_per_second(self) -> float:
        """Return the charts' updates per second while a cell of pure Python runs."""
        self.page.evaluate(BUSY, SPIN.format(seconds=1.5 * WATCH_SECONDS))
        return float(self.page.evaluate(CHANGES, WATCH_SECONDS)) / WATCH_SECONDS

    def kernel(self) -> list[list[float]]:
        """Return the seconds of updates, sending and complete turns, and the bytes of updates."""
        return list(json.loads(self.execute(PRINT_TIMES)))

    def reload_seconds(self) -> float:
        """Reload the page; return the seconds from the view's place to its charts."""
        self.lab.command("docmanager:save")
        self.page.reload()
        self.lab.wait_until_ready()
        self.page.wait_for_function("window.wbvDrawn")
        return float(self.page.evaluate("window.wbvDrawn - window.wbvRendered")) / 1000

    def close(self) -> None:
        self.page.context.close()
        self.lab.server.shut_down_kernels()


def renderer_mb(browser: Browser) -> float:
    """Return the resident memory of the largest page process."""
    answer = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")
    pids = [int(one["id"]) for one in answer["processInfo"] if one["type"] == "renderer"]
    return max(psutil.Process(pid).memory_info().rss for pid in pids) / 1e6


@contextmanager
def growing(runs: list[Run]) -> Iterator[None]:
    """Let runs grow during the block."""
    command = [sys.executable, "-m", "tests.benchmarks.growing", *(str(run.dir) for run in runs)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        yield
        assert process.stdin is not None
        process.stdin.close()


def measure(browser: Browser, server: LabServer, folder: Path, number: int) -> dict[str, float]:
    """Return the figures of a round."""
    root = folder / f"runs-{number}"
    short, *four = [make_run(root, 1_000), *(make_run(root, POINTS) for _ in range(4))]
    long = make_run(root, LONG_STEPS, state="finished")
    found: dict[str, float] = {}
    with growing([short]):
        bench = Bench(browser, server, folder, f"short-{number}.ipynb")
        bench.show([short])
        bench.frames_per_second()
        small = statistics.median(bench.kernel()[3])
        bench.close()
    with growing(four[:1]):
        bench = Bench(browser, server, folder, f"one-{number}.ipynb")
        bench.show(four[:1])
        found["one_frames"] = bench.frames_per_second()
        updates, sent, turns, sizes = bench.kernel()
        made, given = 1000 * statistics.median(updates), 1000 * statistics.median(sent)
        found["kernel_ms"] = made + given
        print_line(f"an update takes the kernel {made:.2f} ms to make and {given:.2f} ms to send")
        found["byte_growth"] = statistics.median(sizes) / small
        update, turn = statistics.median(sizes), 1000 * max(turns[5:])
        print_line(f"an update is {update:,.0f} bytes; a complete turn takes {turn:.1f} ms")
        found["reload_seconds"] = bench.reload_seconds()
        found["busy_updates"] = bench.busy_updates_per_second()
        bench.close()
    with growing(four):
        bench = Bench(browser, server, folder, f"four-{number}.ipynb")
        bench.show(four)
        found["four_frames"] = bench.frames_per_second()
        found["memory_mb"] = renderer_mb(browser)
        bench.close()
    bench = Bench(browser, server, folder, f"long-{number}.ipynb")
    bench.show([make_run(root, 100, state="finished")])
    bench.page.evaluate("document.querySelector('.wbv-charts').dataset.points = ''")
    found["open_seconds"] = bench.open([long])
    bench.close()
    found["front_end_kb"] = sum(len(gzip.compress(path.read_bytes())) for path in FRONT_END) / 1000
    return found


def main() -> int:
    """Measure and print; the exit status is 1 if a limit is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="one round, to try the benchmark")
    rounds = QUICK_ROUNDS if options.parse_args().quick else ROUNDS
    figures: dict[str, list[float]] = {name: [] for name in LIMITS}
    with tempfile.TemporaryDirectory() as base, sync_playwright() as playwright:
        folder = Path(base)
        (folder / "root").mkdir()
        with running_lab(folder / "root", folder / "home") as server:
            for number in range(rounds):
                browser = playwright.chromium.launch(
                    executable_path=find_chromium(), args=list(FLAGS)
                )
                for name, value in measure(browser, server, folder, number).items():
                    figures[name].append(value)
                browser.close()
    verdicts = [LIMITS[name].judge(values) for name, values in figures.items()]
    return int(not all(verdicts))


if __name__ == "__main__":
    sys.exit(main())
