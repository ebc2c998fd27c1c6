"""The saved outputs of the notebooks: `python -m tests.notebook_outputs [NAME ...]` renews them.

Each notebook runs in an empty folder on this machine, from its first cell to its last, and is saved
with what it showed. NAME is a notebook without `.ipynb`; without a name, all notebooks run.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import plotly
from nbclient import NotebookClient
from playwright.sync_api import Page, sync_playwright

from tests.browser.conftest import FLAGS, find_chromium

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = tuple(sorted(path.stem for path in FOLDER.glob("*.ipynb")))
LIMIT_SECONDS = 600
"""How long a cell may take."""
OF_A_MACHINE = re.compile(r"/(?:home|root|Users|tmp|work|var)/|site-packages|\b[A-Z]:\\")
"""What shows where somebody's files are."""
WIDGET = "application/vnd.jupyter.widget-view+json"
FIGURE = "application/vnd.plotly.v1+json"
PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
DRAW = "figure => Plotly.toImage(figure, {format: 'png', width: 900, height: 560})"


def renew(name: str, page: Page) -> None:
    """Run a notebook and save it with its outputs; `page` has plotly's script.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell raised an error; the file stays as it was.
    """
    path = FOLDER / f"{name}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(
            notebook,
            timeout=LIMIT_SECONDS,
            kernel_name="python3",
            resources={"metadata": {"path": folder}},
            record_timing=False,
            store_widget_state=False,
            coalesce_streams=True,
        ).execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = list(readable(cell.outputs, page))
    notebook.metadata.language_info = {"name": "python"}
    nbformat.write(notebook, path)


def readable(outputs: list[Any], page: Page) -> Iterator[Any]:
    """Yield the outputs that can be read without a kernel.

    A live view becomes its text, and a figure a picture, which every reader of notebooks shows.
    TensorFlow's notes about this machine are left out.
    """
    for output in outputs:
        data = output.get("data", {})
        if output.get("name") == "stderr" or "wb-snapshot" in data.get("text/html", ""):
            continue
        if WIDGET in data:
            if not data["text/plain"].startswith("The workbench"):
                continue
            output.data = {"text/plain": data["text/plain"]}
        if FIGURE in data:
            drawn = page.evaluate(DRAW, data[FIGURE])
            output.data = {"image/png": drawn.partition(",")[2], "text/plain": "Figure"}
        yield output


def main() -> int:
    """Renew the named notebooks, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", default=NOTEBOOKS)
    # Cells with `!workbench` find the command of this environment.
    os.environ["PATH"] = os.pathsep.join((sysconfig.get_path("scripts"), os.environ["PATH"]))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(FLAGS))
        page = browser.new_page()
        page.add_script_tag(path=PLOTLY)
        for name in parser.parse_args().names:
            began = time.monotonic()
            renew(name, page)
            sys.stderr.write(f"{name}: {time.monotonic() - began:.0f} s\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
