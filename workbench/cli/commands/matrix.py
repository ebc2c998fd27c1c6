"""`workbench matrix`: every strategy in both loops, with progress, and the table."""

from __future__ import annotations

import json
import shlex
from argparse import ArgumentParser, Namespace
from datetime import timedelta

from workbench import catalog
from workbench.cli.flags import add_runs_dir, refuse_beside_earlier
from workbench.cli.watching import columns, watch_queue
from workbench.experiments import Comparison, Matrix, matrix_of, start_matrix
from workbench.experiments.cells import HEAD
from workbench.experiments.matrix import usual_steps
from workbench.experiments.queueing.comparison import find_comparison
from workbench.fields import FIELDS
from workbench.runs import RunError
from workbench.runs.folder.files import runs_root

TRAINING_FLAGS = ("steps", "data", "model", "strategy", "start", "interpreter")
"""Flags of runs to train."""


def add_flags(parser: ArgumentParser) -> None:
    """Add the flags."""
    parser.description = (
        "Run every strategy in both loops with the same seed and global batch, and compare each run"
        " with OneDevice. Ctrl-C stops and prints the results so far; --resume continues. With"
        " FOLDER, print an earlier matrix."
    )
    parser.add_argument("folder", metavar="FOLDER", nargs="?", help="folder of an earlier matrix")
    text = f"steps of each run. Default: {usual_steps('synthetic')}"
    text += f"; with images: {usual_steps('fashion_mnist')}."
    parser.add_argument("--steps", type=int, metavar="N", help=text)
    text = "synthetic (the MLP) or fashion_mnist (the CNN, in float64), or your own data as "
    text += "module:function or file.py:function, with --model. Default: synthetic."
    parser.add_argument("--data", metavar="DATA", help=text)
    text = "your own model, in float64, as module:function or file.py:function."
    parser.add_argument("--model", metavar="MODEL", help=text)
    text = "only these strategies, in addition to OneDevice's custom loop."
    parser.add_argument(
        "--strategy", nargs="+", choices=list(catalog.STRATEGIES), metavar="S", help=text
    )
    text = f"{FIELDS['start'].help} Default: auto."
    parser.add_argument("--start", choices=list(catalog.STARTS), help=text)
    parser.add_argument("--interpreter", help="the Python that trains")
    text = "continue an earlier matrix that was stopped"
    parser.add_argument("--resume", action="store_true", help=text)
    add_runs_dir(parser)
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    parser.set_defaults(command=matrix)


def matrix(arguments: Namespace) -> int:
    """Run the matrix, or print an earlier one; return 0 if all cells passed, else 1.

    Raises:
        ConfigError: a flag has no meaning with, or without, an earlier matrix.
        RunError: there is no such matrix, or the matrix cannot be started.
    """
    refuse_beside_earlier(arguments, "FOLDER", arguments.folder, TRAINING_FLAGS)
    shown = _earlier(arguments) if arguments.folder else _started(arguments)
    watch_queue(shown)
    done = matrix_of(shown)
    if arguments.json:
        print(json.dumps({**done.to_json(), "folder": str(shown.folder)}))
    else:
        print(report(done), f"Runs and certificates: {shown.folder}", sep="\n")
        if shown.state != "finished":
            print(f"Continue with: workbench matrix {shlex.quote(str(shown.folder))} --resume")
    return int(not done.passed)


def _earlier(arguments: Namespace) -> Comparison:
    found = find_comparison(arguments.folder, arguments.runs_dir)
    if found is None or not found.request.agreement:
        raise RunError(
            f"No matrix {arguments.folder!r} in {runs_root(arguments.runs_dir)}. Give the folder "
            "that `workbench matrix` printed at its end."
        )
    if arguments.resume:
        found.resume()
    return found


def _started(arguments: Namespace) -> Comparison:
    return start_matrix(
        arguments.steps,
        arguments.data or "synthetic",
        arguments.runs_dir,
        interpreter=arguments.interpreter,
        model=arguments.model,
        strategies=arguments.strategy or tuple(catalog.STRATEGIES),
        start=arguments.start or "auto",
    )


def report(done: Matrix) -> str:
    """Return the table and one line that sums it up."""
    rows = [cell.texts() for cell in done.cells]
    took = timedelta(seconds=round(done.seconds))
    summary = f"{done.counted}; {done.steps} steps each, compared with OneDevice's custom loop, "
    return "\n".join([*columns(HEAD, rows), "", f"{summary}in {took}."])
