"""The waits of a reloaded JupyterLab: from the restored layout until a run is shown live again."""

from __future__ import annotations

from typing import NamedTuple

from playwright.sync_api import Page

NOTE_RESTORED = """
window.times = {};
(async () => {
    while (!window.jupyterapp) await new Promise(requestAnimationFrame);
    await window.jupyterapp.restored;
    window.times.restored = performance.now();
})();
"""
NOTE_LIVE_RUN = """
const lasts = new Set();
new MutationObserver(() => {
    const { dataset } = document.querySelector('%s .wbv-charts') ?? {};
    if (Number(dataset?.points) && Number(dataset.first) <= Number(dataset.each)) {
        lasts.add(dataset.last);
        window.times.history ??= performance.now();
    }
    if (lasts.size > 1) window.times.live ??= performance.now();
}).observe(document, {childList: true, subtree: true, attributes: true});
"""


class Waits(NamedTuple):
    """Seconds from the restored layout of a page until it shows a run in a panel."""

    history: float
    """Until all points from the first step on are drawn."""
    live: float
    """Until a later point is drawn."""


def noting(panel: str) -> str:
    """Return the script of a page that notes when the run in a panel, a selector, is shown."""
    return NOTE_RESTORED + NOTE_LIVE_RUN % panel


def wait_until_live(page: Page) -> Waits:
    """Wait until a reloaded page shows the run and its next point."""
    page.wait_for_function("window.times.live")
    times = page.evaluate("window.times")
    return Waits(*(max(0.0, times[name] - times["restored"]) / 1000 for name in Waits._fields))
