"""The accessibility checks of axe-core."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Locator, Page

AXE = Path(__file__).parents[2] / "extension/node_modules/axe-core/axe.min.js"
# JupyterLab's page has no height of its own, so axe takes all its text for hidden.
IN_SIGHT = (
    "*{contain:none!important}"
    "html,body,#main,.jp-ThemedContainer,.lm-Widget{overflow:visible!important}"
)
FINDINGS = """async selector => {
    const { violations } = await axe.run(selector);
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(node => node.html).join(' | ')}`);
}"""


FADED = ";color: #888 !important; background: #999 !important"


def load_axe(page: Page) -> None:
    """Prepare a page for `findings`; a reload needs a new preparation."""
    page.add_style_tag(content=IN_SIGHT)
    page.add_script_tag(path=AXE)


def findings(page: Page, selector: str) -> list[str]:
    """Return the violations within an element; each text starts with the broken rule."""
    found: list[str] = page.evaluate(FINDINGS, selector)
    return found


def assert_sees_contrast(text: Locator, selector: str) -> None:
    """Take a text its contrast; assert that axe finds this violation within an element."""
    before = text.get_attribute("style") or ""
    text.evaluate("(text, style) => { text.style.cssText = style; }", before + FADED)
    found = findings(text.page, selector)
    assert any(each.startswith("color-contrast") for each in found), found
    text.evaluate("(text, style) => { text.style.cssText = style; }", before)
