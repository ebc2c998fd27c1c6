"""A notebook whose cells hold the functions of the script."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .script import ALONE, render_script, sections

if TYPE_CHECKING:
    from ..plan import Plan

WRITTEN = "from_notebook.py"
"""The file that the notebook's cell overwrites each time it runs.

No saved script has this name, because the user may have edited a saved script."""


def render_notebook(plan: Plan) -> str:
    """Return a notebook (nbformat 4.5) whose code cells, joined, are the script's functions.

    In a run of several tasks, each task is a process that runs the file. Then one cell writes the
    script and another cell launches it.
    """
    title, imports, numbers, bodies, below = sections(plan)
    heading = f"# {title.strip(chr(34)).rstrip('.')}\n\nRun all cells to train."
    if len(plan.tasks) > 1:
        launch = f"import sys\n\n!{{sys.executable}} -u {WRITTEN}"
        code = [f"%%writefile {WRITTEN}\n{render_script(plan)}", launch]
    else:
        code = [imports, numbers, *bodies, below, f"{ALONE}\nmain()"]
    cells = [
        _cell("markdown", heading, 0),
        *(_cell("code", text, n) for n, text in enumerate(code, 1)),
    ]
    document = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(document, indent=1) + "\n"


def _cell(kind: str, text: str, number: int) -> dict[str, Any]:
    cell: dict[str, Any] = {
        "cell_type": kind,
        "id": f"cell-{number:02d}",
        "metadata": {},
        "source": text.splitlines(keepends=True),
    }
    return cell if kind == "markdown" else {**cell, "execution_count": None, "outputs": []}
