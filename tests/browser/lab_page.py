"""A user's actions in JupyterLab, as short methods over a Playwright page."""

import contextlib
import json
import secrets
from pathlib import Path
from typing import Any

from playwright.sync_api import Error, Locator, Page, expect
from playwright.sync_api import TimeoutError as TooLate

from tests.browser.lab_server import LabServer
from tests.waiting import LIMIT_SECONDS

LIMIT_MS = 1000 * LIMIT_SECONDS
PALETTE_MS = 6_000
"""After this time the palette is opened again: another part may have taken the focus."""
NOT_OURS = (
    # From the widget manager (5.0.16), if a notebook is opened without a kernel.
    "Cannot read properties of null (reading 'kernel')",
    # From JupyterLab (4.6), if a kernel restarts during a request.
    "Canceled future for",
    # From anywidget (0.11), if a page needs over two seconds for a widget; it gets a new one.
    "[anywidget] Failed to initialize model",
)
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}


class LabPage:
    """One browser page on a JupyterLab; `page` is Playwright's page, for all other actions."""

    not_ours: tuple[str, ...] = NOT_OURS
    themes: tuple[str, ...] = ("dark", "light")

    def __init__(self, page: Page, server: LabServer, shots: Path) -> None:
        self.page = page
        self.server = server
        self.shots = shots
        self.workspace = secrets.token_hex(4)
        self.errors: list[str] = []
        page.on("pageerror", self._note_error)
        page.set_default_timeout(LIMIT_MS)
        expect.set_options(timeout=LIMIT_MS)

    def _note_error(self, error: Error) -> None:
        if not any(known in str(error) for known in self.not_ours):
            self.errors.append(str(error))

    def address(self, **query: str) -> str:
        """Return the address of this page's workspace, which stores its tabs.

        JupyterLab's own `?reset` is not used, because it changes the address some time after the
        page is ready.
        """
        return self.server.url(f"lab/workspaces/{self.workspace}", **query)

    def reload(self) -> None:
        """Load the page again and wait until its notebook has its kernel."""
        self.page.reload()
        self.wait_until_ready()
        self.wait_for_kernel()

    def open(self, **query: str) -> None:
        """Open JupyterLab in this page's own workspace and wait until it can be used."""
        self.page.goto(self.address(**query))
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        """Wait until JupyterLab has its layout, after opening or a reload.

        The launcher appears after that and takes the focus, which closes menus and the palette.
        """
        self.page.wait_for_function("window.jupyterapp !== undefined")
        self.ask("window.jupyterapp.restored.then(() => null)")
        self.page.wait_for_function("window.jupyterapp.shell.currentWidget?.isVisible")

    def ask(self, script: str, argument: Any = None) -> Any:
        """Evaluate JavaScript, a function or an expression, and wait for its promise."""
        raced = f"""argument => {{
            const asked = ({script});
            const answer = typeof asked === 'function' ? asked(argument) : asked;
            const late = new Error('not within {LIMIT_SECONDS:g} s');
            return Promise.race([
                answer,
                new Promise((_, fail) => setTimeout(() => fail(late), {LIMIT_MS:g})),
            ]);
        }}"""
        return self.page.evaluate(raced, argument)

    def command(self, name: str, **arguments: Any) -> None:
        """Run a JupyterLab command to its end; its result stays in the page."""
        self.ask(
            "async ([name, args]) => { await window.jupyterapp.commands.execute(name, args); }",
            [name, arguments],
        )

    def set_theme(self, theme: str) -> None:
        """Switch to the `light` or `dark` theme and wait until it shows."""
        self.command("apputils:change-theme", theme=THEMES[theme])
        light = "true" if theme == "light" else "false"
        self.page.wait_for_selector(f'body[data-jp-theme-light="{light}"]', state="attached")
        self.page.wait_for_selector("#jupyterlab-splash", state="detached")

    def write_notebook(self, name: str, cells: list[dict[str, Any]]) -> Path:
        """Write a notebook of these cells, for the kernel `python3`, into the served folder."""
        notebook = {
            "cells": cells,
            "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        path = self.server.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(notebook))
        return path

    def open_notebook(self, name: str, kernel: bool = True) -> Locator:
        """Open a notebook of the served folder; with `kernel`, wait until its kernel answers."""
        arguments: dict[str, Any] = {"path": name, "factory": "Notebook"}
        if not kernel:
            arguments["kernelPreference"] = {"shouldStart": False, "canStart": False}
        self.command("docmanager:open", **arguments)
        if kernel:
            self.wait_for_kernel()
        return self.notebook()

    def wait_for_kernel(self) -> None:
        """Wait until a notebook is in front and its kernel answers."""
        self.page.wait_for_function("window.jupyterapp.shell.currentWidget?.sessionContext")
        self.ask(
            """async () => {
                const panel = window.jupyterapp.shell.currentWidget;
                await panel.context.ready;
                await panel.sessionContext.ready;
                await panel.sessionContext.session.kernel.info;
            }"""
        )

    def find_in_palette(self, label: str, *, run: bool = False) -> Locator:
        """Return a command of the palette, and run it on request.

        The palette closes if another part of the page takes the focus; then it is opened again.
        """
        found = self.page.locator(".lm-CommandPalette-item:visible", has_text=label).first
        for _ in range(round(LIMIT_MS / PALETTE_MS)):
            self.command("apputils:activate-command-palette")
            with contextlib.suppress(TooLate):
                field = self.page.locator(".lm-CommandPalette-input:visible")
                field.fill(label, timeout=PALETTE_MS)
                found.wait_for(timeout=PALETTE_MS)
                if run:
                    found.click(timeout=PALETTE_MS)
                return found
        raise AssertionError(f"The palette has no command {label!r} that can be clicked.")

    def notebook(self) -> Locator:
        """The notebook in front."""
        return self.page.locator(".jp-NotebookPanel:visible")

    def cells(self) -> Locator:
        """The cells of the notebook in front."""
        return self.notebook().locator(".jp-Cell")

    def cell(self, index: int) -> Locator:
        """A cell of the notebook in front, counted from 0."""
        return self.cells().nth(index)

    def run_cell(self, index: int) -> Locator:
        """Run a cell with Ctrl+Enter, and return it without waiting for the kernel."""
        cell = self.cell(index)
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        return cell

    def screenshot(self, name: str) -> Path:
        """Save a picture of the page as `<name>.png` among the test run's files."""
        path = self.shots / f"{name}.png"
        self.page.screenshot(path=path)
        return path
