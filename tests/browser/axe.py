"""What axe-core finds against people who hear a page, or see it otherwise than most."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page

AXE = Path(__file__).parents[2] / "extension/node_modules/axe-core/axe.min.js"
# JupyterLab's page has no height of its own, so that axe takes all text in it for hidden.
IN_SIGHT = (
    "*{contain:none!important}"
    "html,body,#main,.jp-ThemedContainer,.lm-Widget{overflow:visible!important}"
)
FINDINGS = """async selector => {
    const { violations } = await axe.run(selector);
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(node => node.html).join(' | ')}`);
}"""


def load_axe(page: Page) -> None:
    """Have a page ready for `findings`, until it is loaded again."""
    page.add_style_tag(content=IN_SIGHT)
    page.add_script_tag(path=AXE)


def findings(page: Page, selector: str) -> list[str]:
    """What is wrong within an element, each with the rule that it breaks first."""
    found: list[str] = page.evaluate(FINDINGS, selector)
    return found
