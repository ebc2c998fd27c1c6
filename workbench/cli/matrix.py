"""`workbench matrix`: every strategy in both loops, told while it runs, and the table."""

from __future__ import annotations

import json
import signal
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Event
from typing import TYPE_CHECKING

from .. import catalog
from ..experiments import Cell, Matrix, run_matrix
from .watching import columns

if TYPE_CHECKING:
    from types import FrameType

HEAD = ("strategy", "loop", "result", "loss differs", "weights differ", "steps/s", "keras", "why")


def matrix(arguments: Namespace) -> int:
    """Run it; 0 where nothing failed, 1 else, also where it was stopped."""
    teller = _Teller()
    with _stop_by_interrupt() as stop:
        done = run_matrix(
            arguments.steps,
            arguments.data,
            arguments.runs_dir,
            interpreter=arguments.interpreter,
            told=teller.tell,
            stopped=stop.is_set,
        )
    teller.end()
    if arguments.json:
        print(json.dumps(done.to_json()))
    else:
        print(report(done), f"Runs and certificates: {done.folder}", sep="\n")
    stopped = any(cell.status == "stopped" for cell in done.cells)
    return int(done.failed or stopped)


def report(done: Matrix) -> str:
    """Return the table and what it says in a line."""
    rows = [_row(cell) for cell in done.cells]
    counts = dict.fromkeys(("pass", "fail", "unavailable", "stopped"), 0)
    for cell in done.cells:
        counts[cell.status] = counts.get(cell.status, 0) + 1
    told = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
    took = timedelta(seconds=round(done.seconds))
    return "\n".join(
        [
            *columns(HEAD, rows),
            "",
            f"{told}; {done.steps} steps each against OneDevice's custom loop, in {took}.",
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
        "" if rate is None else f"{rate:,.0f}",
        cell.keras or "",
        cell.reason,
    )


def _exact(value: float | None) -> str:
    return "" if value is None else "0" if value == 0 else f"{value:.1e}"


class _Teller:
    """Writes a line that is rewritten on a terminal, and a line a cell elsewhere."""

    def __init__(self) -> None:
        self._told = 0

    def tell(self, matrix: Matrix) -> None:
        running = next((cell for cell in matrix.cells if cell.status == "running"), None)
        if sys.stderr.isatty():
            eta = matrix.eta_seconds
            left = "" if eta is None else f", {timedelta(seconds=round(eta))} left"
            what = f": {running.strategy}, {running.loop}" if running else ""
            line = f"{matrix.done} of {len(matrix.cells)} done{left}{what}"
            print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)
        elif matrix.done > self._told:
            self._told = matrix.done
            print(f"{matrix.done} of {len(matrix.cells)} done", file=sys.stderr, flush=True)

    def end(self) -> None:
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)


@contextmanager
def _stop_by_interrupt() -> Iterator[Event]:
    """Set the event at the first Ctrl-C; a second one interrupts as usual."""
    stop = Event()

    def note(_: int, __: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)
        stop.set()

    before = signal.signal(signal.SIGINT, note)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
