"""The start of the JupyterLab extension: activation of plugins, and the panel after a reload.

`python -m tests.benchmarks.lab_start [--quick]` prints the total milliseconds of `activate` of all
our plugins. It also prints, for a reloaded page, the seconds from the restored layout to a
workbench that reacts to clicks again, on the same kernel.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.benchmarks.report import Limit
from tests.browser.conftest import FLAGS, find_chromium
from tests.browser.lab_page import LabPage
from tests.browser.lab_server import LabServer, running_lab
from tests.browser.panel_page import PanelPage

ROUNDS, QUICK_ROUNDS = 7, 1
# JupyterLab takes a module from the container that our bundle registers under its name. The
# activation of each plugin is timed there.
NOTE_TIMES = """
window.times = {activated: {}};
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
(async () => {
    while (!window.jupyterapp) await new Promise(requestAnimationFrame);
    await window.jupyterapp.restored;
    window.times.restored = performance.now();
})();
new MutationObserver(() => {
    if (document.querySelector('.jp-WorkbenchPanel .wb-root'))
        window.times.live ??= performance.now();
}).observe(document, {childList: true, subtree: true});
"""


def start_times(browser: Browser, server: LabServer, folder: Path) -> tuple[float, float]:
    """Return the milliseconds of all activations, and the seconds until the panel is live again."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.add_init_script(NOTE_TIMES)
    panel = PanelPage(LabPage(context.new_page(), server, folder))
    panel.open()
    before = panel.kernels()
    panel.reload()
    panel.wait_until_live()
    assert panel.kernels() == before
    times = panel.page.evaluate("window.times")
    assert times["activated"]
    panel.close()
    context.close()
    waited = max(0.0, times["live"] - times["restored"]) / 1000
    return sum(times["activated"].values()), waited


def main() -> int:
    """Measure and print; the exit status is 1 if a limit is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="one round, to try the benchmark")
    rounds = QUICK_ROUNDS if options.parse_args().quick else ROUNDS
    with tempfile.TemporaryDirectory() as base, sync_playwright() as playwright:
        folder = Path(base)
        (folder / "root").mkdir()
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(FLAGS))
        with running_lab(folder / "root", folder / "home") as server:
            times = [start_times(browser, server, folder) for _ in range(rounds)]
        browser.close()
    activated, back = zip(*times, strict=True)
    verdicts = [
        Limit("activation of all plugins", "ms", at_most=20).judge(activated),
        Limit("from the reload to the live panel", "s", at_most=2).judge(back),
    ]
    return int(not all(verdicts))


if __name__ == "__main__":
    sys.exit(main())
