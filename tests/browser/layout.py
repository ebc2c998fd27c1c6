"""The texts of a page that a reader cannot read: cut off, covered, or out of sight."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Locator

FAULTS = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
SETTLED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def layout_faults(shown: Locator) -> list[str]:
    """Return the faults of the texts in a visible element, each in words; see `layout.js`."""
    shown.page.evaluate(SETTLED)
    found: list[str] = shown.evaluate(FAULTS)
    return found
