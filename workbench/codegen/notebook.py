"""A notebook whose cells hold the functions of the script."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from .constants import literal
from .script import (
    ALONE,
    ignores_others,
    needs_starter,
    render_script,
    sections,
    start_tasks,
)

if TYPE_CHECKING:
    from ..plan import Plan

WRITTEN = "from_notebook.py"
"""The file that the notebook's cell overwrites each time it runs.

No saved script has this name, because the user may have edited a saved script."""
STARTED = (
    "Each task is a process of this script. `TF_CONFIG` gives it the addresses of all tasks, and "
    "its own place among them. The output is that of {first}."
)
CHANGING = (
    "Change the constants as you like; then restart the kernel and delete the folder `run`, which "
    "holds the last training."
)
CHAPTERS = (
    (
        "Strategy",
        "`tf.distribute` decides what each device holds and when gradients are summed. With "
        "other CPUs or GPUs of this machine, only this cell and the constants differ.",
        ("strategy",),
    ),
    (
        "Data",
        "Each step takes one global batch, which is split among the replicas. The order of the "
        "examples depends only on the seed and the epoch, so training can continue at any step.",
        ("examples", "data", "order", "tests", "pipeline"),
    ),
    (
        "Model",
        "The model with its optimizer and its loss.",
        ("xla", "model"),
    ),
    (
        "Steps",
        "What each replica does with its part of a batch and what it measures, and the graph "
        "functions that do many steps in one call.",
        ("step", "steps", "compile", "loops", "functions"),
    ),
    (
        "Training",
        "Training keeps its checkpoints in the folder `run` and continues from the last one. At "
        "the end the model is saved there, for `tf.keras.models.load_model`. Delete the folder to "
        "start from the first step.",
        ("main",),
    ),
)
"""The parts of a lesson: title, prose and slots."""


def render_notebook(plan: Plan) -> str:
    """Return a notebook (nbformat 4.5) whose code cells, joined, are the script's functions.

    In a run of several tasks, each task is a process that runs the file. Then one cell writes the
    script and another cell launches it.
    """
    plan = _without_evaluator(plan)
    title, imports, numbers, slots = sections(plan)
    heading = f"# {title.rstrip('.')}\n\nRun all cells to train."
    if needs_starter(plan):
        return _document(
            [
                ("markdown", f"{heading} The first cell writes the script."),
                ("code", f"%%writefile {WRITTEN}\n{render_script(plan)}"),
                ("markdown", STARTED.format(first=plan.leader)),
                ("code", f'{start_tasks()}\n\n\nstart_tasks("{WRITTEN}", {_kinds(plan)})'),
            ]
        )
    head = [imports, *([ALONE] if ignores_others(plan) else []), numbers]
    return _document(_cells(heading, head, slots))


def _without_evaluator(plan: Plan) -> Plan:
    """Return the plan whose chief tests the model, because the notebook starts no evaluator."""
    config = dataclasses.replace(plan.config, evaluator=False)
    tasks = tuple(task for task in plan.tasks if not task.startswith("evaluator-"))
    return dataclasses.replace(plan, config=config, tasks=tasks)


def _kinds(plan: Plan) -> str:
    """Return the number of tasks of each kind, as code."""
    kinds = Counter(task.rpartition("-")[0] for task in plan.tasks)
    return f"{{{', '.join(f'{literal(kind)}: {count}' for kind, count in kinds.items())}}}"


def _cells(heading: str, head: list[str], slots: dict[str, str]) -> Iterator[tuple[str, str]]:
    yield "markdown", f"{heading} {CHANGING}"
    yield "code", "\n\n".join(head)
    for title, prose, names in CHAPTERS:
        bodies = [slots[name] for name in slots if name in names]
        if bodies:
            call = ['main("run")'] if "main" in names else []
            yield "markdown", f"## {title}\n\n{prose}"
            yield "code", "\n\n\n".join(bodies + call)


def _document(cells: Iterable[tuple[str, str]]) -> str:
    document = {
        "cells": [_cell(kind, text, number) for number, (kind, text) in enumerate(cells)],
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
