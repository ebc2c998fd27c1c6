"""A person who has only a keyboard: the next control, the previous one, typing."""

from __future__ import annotations

from playwright.sync_api import Locator, Page

MOST_PRESSES = 150
FOCUSED = """() => {
    const focused = document.activeElement;
    return `${focused.tagName} ${focused.ariaLabel || focused.title || focused.textContent}`
        .slice(0, 60);
}"""
CHOSEN = "list => list.selectedOptions[0].label.replaceAll('\\u00a0', ' ')"


class Keyboard:
    """The keys of a page. Nothing here moves the focus but keys."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, *keys: str) -> None:
        """Press keys one after another."""
        for key in keys:
            self.page.keyboard.press(key)

    def go_to(self, wanted: Locator, key: str = "Tab") -> None:
        """Press Tab, or another key that moves the focus, until a control has the focus."""
        passed = []
        for _ in range(MOST_PRESSES):
            self.press(key)
            if wanted.evaluate("wanted => wanted === document.activeElement"):
                return
            passed.append(self.page.evaluate(FOCUSED))
        raise AssertionError(f"{key} does not reach {wanted}; it passes {passed}")

    def back_to(self, wanted: Locator) -> None:
        """Press Shift+Tab until a control has the focus."""
        self.go_to(wanted, "Shift+Tab")

    def write(self, field: Locator, text: str) -> None:
        """Go to a text field and replace its text."""
        self.go_to(field)
        self.press("Control+a")
        self.page.keyboard.type(text)

    def choose(self, focused: Locator, option: str, key: str = "ArrowDown") -> None:
        """Press an arrow in the list that has the focus until an option is chosen."""
        passed = []
        for _ in range(focused.locator("option").count()):
            passed.append(focused.evaluate(CHOSEN))
            if passed[-1] == option:
                return
            self.press(key)
        raise AssertionError(f"{key} does not reach {option} in {focused}; it passes {passed}")
