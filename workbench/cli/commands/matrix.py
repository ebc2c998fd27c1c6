"""`workbench matrix`: every strategy in both loops, with progress, and the table."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from datetime import timedelta

from workbench import catalog
from workbench.cli.flags import add_runs_dir
from workbench.cli.terminal import ProgressLine, stop_by_interrupt
from workbench.cli.watching import columns
from workbench.experiments import Cell, Matrix, run_matrix
from workbench.experiments.matrix import usual_steps
from workbench.fields import FIELDS

HEAD = ("strategy", "loop", "result", "loss differs", "weights differ", "steps/s", "keras", "why")


def add_flags(parser: ArgumentParser) -> None:
    """Add the flags."""
    parser.description = (
        "Run every strategy in both loops with the same seed and global batch, and compare each run"
        " with OneDevice. Ctrl-C stops and prints the results so far."
    )
    text = f"steps of each run. Default: {usual_steps('synthetic')}"
    text += f"; with images: {usual_steps('fashion_mnist')}."
    parser.add_argument("--steps", type=int, metavar="N", help=text)
    text = "synthetic (the MLP) or fashion_mnist (the CNN, in float64), or your own data as "
    text += "module:function or file.py:function, with --model. Default: synthetic."
    parser.add_argument("--data", metavar="DATA", default="synthetic", help=text)
    text = "your own model, in float64, as module:function or file.py:function."
    parser.add_argument("--model", metavar="MODEL", help=text)
    text = "only these strategies, in addition to OneDevice's custom loop."
    parser.add_argument(
        "--strategy", nargs="+", choices=list(catalog.STRATEGIES), metavar="S", help=text
    )
    text = f"{FIELDS['start'].help} Default: auto."
    parser.add_argument("--start", choices=list(catalog.STARTS), default="auto", help=text)
    parser.add_argument("--interpreter", help="the Python that trains")
    add_runs_dir(parser)
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    parser.set_defaults(command=matrix)


def matrix(arguments: Namespace) -> int:
    """Run the matrix; return 0 if nothing failed, else 1, also if it was stopped."""
    line = ProgressLine()

    def show_progress(matrix: Matrix) -> None:
        running = matrix.running
        now = f": {running.strategy}, {running.loop}" if running else ""
        line.write(f"{matrix.done} of {len(matrix.cells)} done", matrix.eta_seconds, now)

    with stop_by_interrupt() as stop:
        done = run_matrix(
            arguments.steps,
            arguments.data,
            arguments.runs_dir,
            interpreter=arguments.interpreter,
            on_progress=show_progress,
            stopped=stop.is_set,
            model=arguments.model,
            start=arguments.start,
            strategies=arguments.strategy or tuple(catalog.STRATEGIES),
        )
    line.end()
    if arguments.json:
        print(json.dumps(done.to_json()))
    else:
        print(report(done), f"Runs and certificates: {done.folder}", sep="\n")
    stopped = any(cell.status == "stopped" for cell in done.cells)
    return int(done.failed or stopped)


def report(done: Matrix) -> str:
    """Return the table and one line that sums it up."""
    rows = [_row(cell) for cell in done.cells]
    counts = dict.fromkeys(("pass", "fail", "unavailable", "stopped"), 0)
    for cell in done.cells:
        counts[cell.status] = counts.get(cell.status, 0) + 1
    counted = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
    took = timedelta(seconds=round(done.seconds))
    return "\n".join(
        [
            *columns(HEAD, rows),
            "",
            f"{counted}; {done.steps} steps each, compared with OneDevice's custom loop, "
            f"in {took}.",
        ]
    )


def _row(cell: Cell) -> tuple[str, ...]:
    rate = cell.steps_per_second
    loss = _exact(cell.max_loss_difference)
    if cell.float32_loss_difference is not None:
        loss += f" (float32 {_exact(cell.float32_loss_difference)})"
    return (
        catalog.STRATEGIES[cell.strategy].label,
        cell.loop,
        cell.status,
        loss,
        _exact(cell.max_weight_difference),
        f"{rate:,.0f}" if rate else "too few steps" if cell.status == "pass" else "",
        cell.keras or "",
        cell.reason,
    )


def _exact(value: float | None) -> str:
    return "" if value is None else "0" if value == 0 else f"{value:.1e}"
