"""The sidebar of devices and runs, with methods for a user's actions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.request import Request, urlopen

from playwright.sync_api import Locator, Page, WebSocket, expect

from tests.browser.lab_page import LabPage
from tests.browser.lab_server import LabServer
from tests.waiting import LIMIT_SECONDS

SHOW = "workbench:show-runs"
SETTINGS = "lab/api/settings/tf-distribute-workbench:server"


def choose(server: LabServer, **settings: Any) -> None:
    """Change settings as in the settings editor; pages that are opened later have them."""
    body = json.dumps({"raw": json.dumps(settings)}).encode()
    request = Request(server.url(SETTINGS), data=body, method="PUT")
    request.add_header("Authorization", f"token {server.token}")
    urlopen(request, timeout=LIMIT_SECONDS).close()


def about(channel: str, kind: str = "") -> Callable[[str | bytes], bool]:
    """Return a predicate: whether a frame is of this channel, and of this kind if one is given."""

    def fits(frame: str | bytes) -> bool:
        message = json.loads(frame)
        return message["channel"] == channel and message.get("kind", "") == kind

    return fits


class SidebarPage:
    """JupyterLab with the sidebar in front, which shows the chosen folder of runs."""

    def __init__(self, lab: LabPage) -> None:
        self.lab, self.page = lab, lab.page
        self.sockets: list[WebSocket] = []
        lab.page.on("websocket", self._note)
        lab.open()
        self.show()

    def _note(self, socket: WebSocket) -> None:
        if "workbench/stream" in socket.url:
            self.sockets.append(socket)

    @property
    def root(self) -> Locator:
        return self.page.locator(".jp-WorkbenchSidebar")

    @property
    def list(self) -> Locator:
        return self.root.get_by_role("listbox", name="Runs")

    @property
    def rows(self) -> Locator:
        """The rows that are drawn."""
        return self.list.get_by_role("option")

    @property
    def status(self) -> Locator:
        """The result of the last action."""
        return self.root.get_by_role("status")

    @property
    def notice(self) -> Locator:
        return self.root.get_by_role("alert")

    @property
    def dialog(self) -> Locator:
        return self.page.locator(".jp-Dialog")

    def show(self) -> None:
        self.lab.command(SHOW)
        expect(self.root).to_be_visible()

    def hide(self) -> None:
        self.lab.command("application:toggle-left-area")
        expect(self.root).not_to_be_visible()

    def row(self, title: str) -> Locator:
        return self.rows.filter(has_text=title)

    def pill(self, title: str) -> Locator:
        """Return the label with a run's status."""
        return self.row(title).locator(".jp-WorkbenchRuns-pill")

    def button(self, name: str | re.Pattern[str]) -> Locator:
        return self.root.get_by_role("button", name=name)

    def more(self, name: str) -> None:
        """Choose an item of the menu of actions without a button."""
        self.button("Script and cell").click()
        self.menu_item(name).click()

    def menu_item(self, name: str) -> Locator:
        return self.page.locator(".lm-Menu").get_by_role("menuitem", name=name, exact=True)

    def answer(self, button: str) -> None:
        """Click a button of the dialog and wait until this dialog is closed; another may follow."""
        asked = self.page.get_by_role("button", name=button, exact=True)
        dialog = self.dialog.filter(has=asked)
        dialog.get_by_role("button", name=button, exact=True).click()
        expect(dialog).to_have_count(0)


def leave(page: Page) -> None:
    """Take pointer and focus away from the sidebar."""
    page.mouse.move(900, 500)
    page.evaluate("document.activeElement?.blur()")
