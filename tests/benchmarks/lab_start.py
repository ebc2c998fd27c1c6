"""The start of the JupyterLab extension: activation of plugins, and the panel after a reload.

`python -m tests.benchmarks.lab_start [--quick]` prints the total milliseconds of `activate` of all
our plugins. It also prints, for a reloaded page, the seconds from the restored layout to a
workbench that reacts to clicks again, on the same kernel. If a run trains meanwhile, it prints the
seconds to the complete history of the run in the panel, and to the first later point. And it prints
the seconds from the end of a step to its point on the page, while the call of a graph function
goes on in which the step was done.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, ViewportSize, sync_playwright

from tests.benchmarks.first_step import calls_of
from tests.benchmarks.reloaded import Waits, noting, wait_until_live
from tests.benchmarks.report import Limit
from tests.browser.conftest import FLAGS, find_chromium
from tests.browser.lab_page import LabPage
from tests.browser.lab_server import LabServer, loaded_ahead, running_lab
from tests.browser.panel_page import PanelPage
from tests.browser.workbench_page import LONG_RUN
from tests.waiting import LIMIT_SECONDS
from workbench.runs import list_runs

ROUNDS, QUICK_ROUNDS = 7, 1
VIEWPORT: ViewportSize = {"width": 1280, "height": 2600}
"""So high that it shows the charts, because a run view that is not seen receives nothing."""
HISTORY_STEPS = 1_000
"""The steps of the run before the page is reloaded."""
STEPS_PER_CALL = "Steps per graph call"
LONG_CALL = {"Epochs": "1", "Steps per epoch": "30,000"}
NOTE_FIRST_POINT = """
new MutationObserver(() => {
    const { dataset } = document.querySelector('.jp-WorkbenchPanel .wbv-charts') ?? {};
    if (Number(dataset?.points)) window.times.point ??= Date.now();
}).observe(document, {childList: true, subtree: true, attributes: true});
"""
# JupyterLab takes a module from the container that our bundle registers under its name. The
# activation of each plugin is timed there.
NOTE_START = """
window.times.activated = {};
const timed = new Set();
const time = plugin => {
    if (timed.has(plugin)) return;
    timed.add(plugin);
    const { activate } = plugin;
    plugin.activate = (...services) => {
        const began = performance.now();
        const made = activate(...services);
        window.times.activated[plugin.id] = performance.now() - began;
        return made;
    };
};
const watched = container => ({
    ...container,
    init: (...shared) => container.init(...shared),
    get: async path => {
        const factory = await container.get(path);
        return () => {
            const module = factory();
            if (path === './extension') module.default.forEach(time);
            return module;
        };
    }
});
window._JUPYTERLAB = new Proxy({}, {
    set(known, name, container) {
        known[name] = name === 'tf-distribute-workbench' ? watched(container) : container;
        return true;
    }
});
new MutationObserver(() => {
    if (document.querySelector('.jp-WorkbenchPanel .wb-root'))
        window.times.form ??= performance.now();
}).observe(document, {childList: true, subtree: true});
"""


class Times(NamedTuple):
    """What is measured with one page."""

    activation: float
    """The milliseconds of all activations."""
    back: float
    """The seconds until the panel is live again."""
    waits: Waits
    """The same for a run that trains."""
    point: float
    """The seconds from the end of a step within a long call to its point."""


def start_times(browser: Browser, server: LabServer, folder: Path) -> Times:
    """Open a panel, reload it, and train twice in it."""
    context = browser.new_context(viewport=VIEWPORT)
    context.add_init_script(noting(".jp-WorkbenchPanel") + NOTE_START + NOTE_FIRST_POINT)
    panel = PanelPage(LabPage(context.new_page(), server, folder))
    panel.open()
    before = panel.kernels()
    panel.reload()
    panel.wait_until_live()
    assert panel.kernels() == before
    times = panel.page.evaluate("window.times")
    assert times["activated"]
    point, waits = first_point_wait(panel), training_waits(panel)
    panel.close()
    context.close()
    waited = max(0.0, times["form"] - times["restored"]) / 1000
    return Times(sum(times["activated"].values()), waited, waits, point)


def training_waits(panel: PanelPage) -> Waits:
    """Return the waits of a page that is reloaded while a run of the panel trains."""
    panel.train(**LONG_RUN)
    (run,) = (each for each in list_runs(panel.runs_dir) if each.alive)
    try:
        panel.wait_for_lines(f"lines.length > 0 && lines[0][2] > {HISTORY_STEPS}")
        panel.reload()
        return wait_until_live(panel.page)
    finally:
        run.stop()
        run.wait(LIMIT_SECONDS)


def first_point_wait(panel: PanelPage) -> float:
    """Return the seconds from the end of the first step to its point, while its call goes on.

    It is the first run that the page shows.
    """
    known = {run.id for run in list_runs(panel.runs_dir)}
    panel.field(STEPS_PER_CALL).select_option(label="A whole epoch")
    panel.train(**LONG_CALL)
    (run,) = (each for each in list_runs(panel.runs_dir) if each.id not in known)
    panel.page.wait_for_function("window.times.point")
    assert not run.epochs().size, "the call was over before the point was drawn"
    _, _, start, seconds = calls_of(run)[0]
    run.wait(LIMIT_SECONDS)
    panel.field(STEPS_PER_CALL).select_option(label="Automatic")
    drawn: float = panel.page.evaluate("window.times.point")
    return drawn / 1000 - (start + seconds)


def main() -> int:
    """Measure and print; the exit status is 1 if a limit is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="one round, to try the benchmark")
    rounds = QUICK_ROUNDS if options.parse_args().quick else ROUNDS
    with tempfile.TemporaryDirectory() as base, sync_playwright() as playwright:
        root, home = Path(base) / "root", Path(base) / "home"
        root.mkdir()
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(FLAGS))
        with running_lab(root, home) as server, loaded_ahead(root, home):
            times = [start_times(browser, server, Path(base)) for _ in range(rounds)]
        browser.close()
    activated, back, waits, points = zip(*times, strict=True)
    history, live = zip(*waits, strict=True)
    verdicts = [
        Limit("activation of all plugins", "ms", at_most=20).judge(activated),
        Limit("from the reload to the live panel", "s", at_most=2).judge(back),
        Limit("a run trains, reload to its history", "s", at_most=2).judge(history),
        Limit("a run trains, reload to its next point", "s", at_most=2).judge(live),
        Limit("a step in a long call to its point", "s", at_most=0.5).judge(points),
    ]
    return int(not all(verdicts))


if __name__ == "__main__":
    sys.exit(main())
