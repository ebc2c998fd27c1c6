"""Notebook 7 and classic Notebook 6.5: each with its own environment, server and page."""

import socket
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Locator

from tests import virtualenvs
from tests.browser.lab_page import LabPage
from tests.browser.lab_server import Program
from tests.colab import environment as colab

ROOT = Path(__file__).parents[2]
NOTEBOOK_7_ITSELF = "Cannot read properties of undefined (reading 'schema')"
"""Raised by Notebook 7.6 at every opening, by its own keyboard shortcuts."""


class Notebook7Page(LabPage):
    """A page on Notebook 7: JupyterLab's parts, one notebook per page."""

    not_ours = (*LabPage.not_ours, NOTEBOOK_7_ITSELF)

    def open(self, **query: str) -> None:
        """Do nothing: there are only pages of notebooks."""

    def open_notebook(self, name: str, kernel: bool = True) -> Locator:
        """Open a notebook of the served folder and wait until its kernel answers."""
        self.page.goto(self.server.url(f"notebooks/{name}"))
        self.wait_until_ready()
        self.wait_for_kernel()
        return self.notebook()


class ClassicPage(LabPage):
    """A page on classic Notebook 6.5, which has only a light theme."""

    themes = ()

    def open(self, **query: str) -> None:
        """Do nothing: there are only pages of notebooks."""

    def open_notebook(self, name: str, kernel: bool = True) -> Locator:
        """Open a notebook of the served folder and wait until its kernel answers."""
        self.page.goto(self.server.url(f"notebooks/{name}"))
        self.page.wait_for_function("window.Jupyter?.notebook?.kernel?.is_connected()")
        return self.notebook()

    def notebook(self) -> Locator:
        """The notebook of the page."""
        return self.page.locator("#notebook")

    def cells(self) -> Locator:
        """The cells of the page."""
        return self.notebook().locator(".cell")

    def run_cell(self, index: int) -> Locator:
        """Run a cell with Ctrl+Enter, and return it without waiting for the kernel."""
        cell = self.cell(index)
        cell.locator(".CodeMirror").click()
        self.page.keyboard.press("Control+Enter")
        return cell


class Host(NamedTuple):
    """A host: functions that make its environment and its program, and the class of its page."""

    make: Callable[[Path], Path]
    program: Callable[[Path], Program]
    page: type[LabPage]


def notebook_7_environment(folder: Path) -> Path:
    """Make the newest Notebook with the versions that the project is developed with."""
    locked = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    packages = [*_project()["dependencies"], *_project()["optional-dependencies"]["tensorflow"]]
    return virtualenvs.make(folder, locked, ["notebook>=7.5", "ipykernel", *packages])


def classic_environment(folder: Path) -> Path:
    """Make classic Notebook 6.5 with the versions of Colab, which has it too."""
    return colab.make(folder, "notebook", *_project()["dependencies"])


def notebook_7(python: Path) -> Program:
    """The command line of Notebook 7."""
    shown = "--JupyterNotebookApp.expose_app_in_browser=True"
    where = ("--ServerApp.ip=127.0.0.1", "--ServerApp.port=0")
    return Program(("-m", "notebook", shown, *where), "jpserver-{pid}.json", str(python))


def classic(python: Path) -> Program:
    """The command line of Notebook 6.5, which does not report a port that it chose itself."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    where = ("--NotebookApp.ip=127.0.0.1", f"--NotebookApp.port={port}")
    return Program(("-m", "notebook", *where), "nbserver-{pid}.json", str(python))


HOSTS = {
    "notebook-7": Host(notebook_7_environment, notebook_7, Notebook7Page),
    "classic-notebook": Host(classic_environment, classic, ClassicPage),
}


def _project() -> dict[str, Any]:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return dict(table)
