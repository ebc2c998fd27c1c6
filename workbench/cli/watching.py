"""Runs in a terminal: a progress line during training, a run's card, and the table of all runs."""

from __future__ import annotations

import json
import shlex
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, TextIO

from workbench import units

from ..plan.launching import runs_on
from ..runs.listing import Unreadable, summary_in_list
from .terminal import ProgressLine, stop_by_interrupt

if TYPE_CHECKING:
    from argparse import Namespace

    from workbench.experiments import Comparison
    from workbench.runs.records.ledger import Ledger

    from ..runs import Progress, Run, Summary

LINE_WIDTH = 98
"""The width of a paragraph, in characters."""
POLL_SECONDS = 0.2
QUEUE_POLL_SECONDS = 0.5
OVER = ("finished", "stopped", "failed", "lost")


def watch(run: Run, out: TextIO, *, stops: bool = True) -> None:
    """Show a run until it ends.

    If `stops` is true, the first Ctrl-C stops the run and a second one leaves it running. Else the
    first one leaves it running.
    """
    shown = 0
    said: dict[str, str] = {}
    asked = False
    with _counted_interrupts() as interrupts:
        print(f"{run.id}: {run.plan.arithmetic}", file=out, flush=True)
        while True:
            status = run.status
            shown = _print_epochs(run, shown, out)
            if status in OVER:
                break
            progress = run.progress
            _print_news(progress, said, out)
            _print_line(progress, out)
            if interrupts and stops and not asked:
                asked = True
                run.stop()
                print("\nStopping after the current call, with a checkpoint.", file=out)
                print("Press Ctrl-C again to leave it running.", file=out)
            if len(interrupts) > stops:
                print(f"\nLeft running. {_watch_with(run)}", file=out)
                return
            time.sleep(POLL_SECONDS)
    print(("\r\033[K" if out.isatty() else "") + show(run), file=out)


@contextmanager
def _counted_interrupts() -> Iterator[list[int]]:
    """Collect each Ctrl-C. An exception could cut off the answer to an earlier Ctrl-C."""
    interrupts: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: interrupts.append(number))
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, before)


def exit_status(run: Run) -> int:
    """Return 0 if the run goes on, finished or was stopped, and 1 if it failed or is lost."""
    return int(run.status in ("failed", "lost"))


def show(run: Run) -> str:
    """Return a run's card."""
    summary = run.summary
    progress, plan = summary.progress, summary.plan
    lines = [
        run.id if summary.title == run.id else f"{run.id}  {shown(summary.title)}",
        f"  status      {summary.status}{_note(progress)}",
        f"  strategy    {plan.strategy_label}, {plan.who_trains}, {plan.loop}",
        *([f"  runs on     {place}"] if (place := runs_on(run.config)) else []),
        f"  step        {progress.step:,} of {progress.total_steps:,}",
    ]
    for name, value in summary.results.items():
        if value is not None:
            lines.append(f"  {name.replace('_', ' '):<11} {value:.4f}")
    lines += _speed(summary)
    lines += _times(summary.ledger or run.ledger)
    lines += [f"  missing     steps {first} to {last}" for first, last in run.missing]
    lines += _changed(progress)
    lines.append(f"  folder      {run.dir}")
    lines += _copies(run)
    if failure := summary.failure:
        lines += [f"  cause       {failure.cause}", f"  fix         {failure.fix}"]
        lines += [f"  | {line}" for line in failure.log_tail.splitlines()[-10:]]
    return "\n".join(lines)


def _speed(summary: Summary) -> list[str]:
    """Return a line for the speed: of the last seconds of a run that trains, else steady."""
    from workbench.runs.records.speed import RECENT

    rate, when = summary.examples_per_second, RECENT if summary.alive else units.STEADY
    line = f"  speed       {units.number(rate)} examples per second, {when}"
    return [] if rate is None else [line]


def _copies(run: Run) -> list[str]:
    """Return a line for the copy in the archive, if there is one."""
    copies = run.copies
    if copies is None or copies.step is None or copies.copied_at is None:
        return []
    at = datetime.fromtimestamp(copies.copied_at).strftime("%Y-%m-%d %H:%M:%S")
    return [f"  archive     {copies.folder}, continues from step {copies.step:,}, copied {at}"]


def _times(ledger: Ledger) -> list[str]:
    """Return one line for the first step and one for the complete run, if their times are known."""
    until_first = sum(entry.seconds for entry in ledger.first_step)
    parts = {
        "first step": (until_first, ledger.first_step),
        "duration": (ledger.seconds, ledger.whole),
    }
    return [
        f"  {name:<11} {units.duration(seconds)}: "
        + ", ".join(f"{entry.label} {units.duration(entry.seconds)}" for entry in entries)
        for name, (seconds, entries) in parts.items()
        if entries
    ]


def table(runs: Sequence[Run]) -> str:
    """Return all runs as aligned text."""
    if not runs:
        return "No runs yet. Start one with: workbench run --preset mlp_synthetic"
    head = ("run", "started", "status", "strategy", "data", "steps", "test accuracy", "name")
    return "\n".join(columns(head, [_row(run) for run in runs]))


def columns(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return aligned lines below a head line in capital letters."""
    lines = [[word.upper() for word in head], *([shown(cell) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]


def shown(text: str) -> str:
    """Return a text as one line, without characters that a terminal would interpret."""
    return "".join(each if each.isprintable() else "\ufffd" for each in " ".join(text.splitlines()))


def _row(run: Run) -> tuple[str, ...]:
    started = datetime.fromtimestamp(run.created).strftime("%Y-%m-%d %H:%M") if run.created else ""
    summary = summary_in_list(run)
    if isinstance(summary, Unreadable):
        return run.id, started, summary.status, "", "", "", "", summary.error
    plan, accuracy = summary.plan, summary.results["test_accuracy"]
    return (
        run.id,
        started,
        summary.status,
        f"{plan.strategy} on {plan.who_trains}",
        plan.data,
        f"{summary.progress.step:,}",
        "" if accuracy is None else f"{accuracy:.2%}",
        summary.title,
    )


def _note(progress: Progress) -> str:
    return f" ({progress.note})" if progress.note else ""


def _changed(progress: Progress) -> list[str]:
    return [f"  changed     {progress.changed}"] if progress.changed else []


def _print_epochs(run: Run, shown: int, out: TextIO) -> int:
    leader = run.plan.leader
    events = [event for event in run.events() if event["task"] == leader]
    epochs = [event for event in events if event["event"] == "epoch"]
    for event in epochs[shown:]:
        measures = ", ".join(
            f"{name.replace('_', ' ')} {event[name]:.4f}"
            for name in ("loss", "accuracy", "test_loss", "test_accuracy")
            if event.get(name) is not None
        )
        start = "\r\033[K" if out.isatty() else ""
        print(f"{start}epoch {event['epoch']}: {measures}", file=out, flush=True)
    return max(shown, len(epochs))


def _print_news(progress: Progress, said: dict[str, str], out: TextIO) -> None:
    """Print the note, and the stage except on a terminal, if they differ from what was `said`.

    On a terminal, the stage is in the progress line.
    """
    news = {"note": " ".join(filter(None, (progress.note, progress.changed)))}
    if not out.isatty():
        news["stage"] = f"{progress.stage.sentence}." if progress.stage else ""
    for name, text in news.items():
        if text and text != said.get(name):
            start = "\r\033[K" if out.isatty() else ""
            print(f"{start}{text}", file=out, flush=True)
    said.update(news)


def _print_line(progress: Progress, out: TextIO) -> None:
    if not out.isatty():
        return
    steps, examples = progress.steps_per_second, progress.examples_per_second
    speed = ""
    if steps is not None and examples is not None:
        speed = f", {units.number(steps, 3)} steps and {units.number(examples)} examples per second"
    eta = progress.eta_seconds
    left = "" if eta is None else f", {units.duration(eta)} left"
    done = f"{progress.step:,} of {progress.total_steps:,} steps"
    print(f"\r\033[K{progress.doing}: {done}{speed}{left}", end="", file=out, flush=True)


def watch_queue(comparison: Comparison) -> None:
    """Show a comparison's progress until the end. The first Ctrl-C stops it, a second leaves it."""
    line = ProgressLine()
    with stop_by_interrupt() as stop:
        while (state := comparison.state) in ("running", "stopping"):
            if stop.is_set() and state == "running":
                comparison.stop()
            done = f"{comparison.ended} of {comparison.planned} runs done"
            doing = comparison.doing
            left = comparison.eta_seconds if state == "running" else None
            line.write(done, left, doing and f", {doing}")
            time.sleep(QUEUE_POLL_SECONDS)
    line.end()
    if comparison.state == "lost":
        print(f"The comparison's queue ended unexpectedly: {comparison.log(5)}", file=sys.stderr)


def follow(followed: Run, arguments: Namespace) -> int:
    """Watch a run to its end unless `--detach` was given; return the exit status."""
    if not arguments.detach:
        watch(followed, sys.stderr if arguments.json else sys.stdout)
    elif not arguments.json:
        print(f"Started {followed.id} in {followed.dir}. {_watch_with(followed)}")
    if arguments.json:
        print(json.dumps(followed.result()))
    return exit_status(followed)


def _watch_with(run: Run) -> str:
    return f"Watch it with: workbench runs watch {shlex.quote(str(run.dir))}"
