"""The workbench as a panel, with methods for a user's actions."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import psutil
from jupyter_client import BlockingKernelClient
from playwright.sync_api import Locator, expect

from tests.browser.lab_page import LabPage
from tests.browser.workbench_page import WorkbenchPage
from tests.waiting import LIMIT_SECONDS

START = "Start a new workbench"


class PanelPage(WorkbenchPage):
    """JupyterLab with a workbench as a panel; its form is the same as in a notebook."""

    def __init__(self, lab: LabPage) -> None:
        self.lab, self.page = lab, lab.page

    @property
    def panels(self) -> Locator:
        """All panels on the page, also panels behind other tabs."""
        return self.page.locator(".jp-WorkbenchPanel")

    @property
    def root(self) -> Locator:
        """The workbench itself."""
        return self.panels.locator(".wb-root")

    @property
    def error(self) -> Locator:
        """The panel's message about a problem."""
        return self.panels.get_by_role("alert")

    def click_card(self) -> None:
        """Click the launcher's card."""
        self.page.locator(".jp-LauncherCard:visible", has_text="Distributed training").click()

    def open(self) -> None:
        """Open JupyterLab, click the card, choose `PRESET`, and wait until Train can be clicked."""
        self.lab.open()
        self.click_card()
        self.choose_preset()
        self.wait_until_live()

    def wait_until_live(self) -> None:
        """Wait until no problem is shown and Train can be clicked."""
        expect(self.error).to_have_count(0)
        expect(self.button("Train")).to_be_enabled()

    def start_again(self) -> None:
        """Click the one button that gives a new workbench."""
        self.error.get_by_role("button", name=START).click()
        self.wait_until_live()

    def reload(self) -> None:
        """Load the page again."""
        self.page.reload()
        self.lab.wait_until_ready()

    def close(self) -> None:
        """Click the cross of the panel's tab."""
        tab = self.page.locator(".lm-TabBar-tab", has_text="Distributed training")
        tab.locator(".lm-TabBar-tabCloseIcon").click()

    def kernels(self) -> list[str]:
        """Return the ids of the kernels of panels that the server runs."""
        return [
            session["kernel"]["id"]
            for session in self.lab.server.ask("api/sessions")
            if session["path"].startswith("workbench-")
        ]

    def run_in_kernel(self, code: str) -> None:
        """Run code in the kernel of the only panel, as a second client."""
        (kernel,) = self.kernels()
        (file,) = self.lab.server.root.parent.rglob(f"kernel-{kernel}.json")
        client = BlockingKernelClient(connection_file=str(file))
        client.load_connection_file()
        client.start_channels()
        try:
            reply = client.execute_interactive(code, timeout=LIMIT_SECONDS)
            assert reply["content"]["status"] == "ok", reply["content"]
        finally:
            client.stop_channels()

    def kill_kernel(self) -> None:
        """Kill the process of the only panel's kernel by SIGKILL."""
        (kernel,) = self.kernels()
        connection_file = f"kernel-{kernel}.json"
        (process,) = (
            process
            for process in psutil.process_iter(["cmdline"])
            if any(Path(word).name == connection_file for word in process.info["cmdline"] or ())
        )
        os.kill(process.pid, signal.SIGKILL)
