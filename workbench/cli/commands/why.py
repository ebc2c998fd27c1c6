"""`workbench why`: the times of a step's parts, one suggestion, and the suggestion's effect."""

from __future__ import annotations

import json
import shlex
import textwrap
import threading
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict

from workbench.cli.flags import add_runs_dir
from workbench.cli.terminal import ProgressLine
from workbench.cli.watching import LINE_WIDTH, columns
from workbench.runs import Run, open_run
from workbench.verdict import SECONDS, Verdict, judge, wording
from workbench.verdict.parts import Breakdown
from workbench.verdict.recorded import slowest_of, worker_speeds
from workbench.verdict.trial import Trial, try_out
from workbench.verdict.verdict import SUGGESTED, OnProgress

BAR_WIDTH = 20


def add_flags(parser: ArgumentParser) -> None:
    """Add the flags."""
    parser.description = (
        "Time a run's training step in separate processes, complete and with parts left out, to"
        " show where the time goes. Suggest one change. The run itself does not change."
    )
    parser.add_argument("run", metavar="RUN", help="a run's id or folder")
    text = "try the suggestion: start a short run with it, and time both side by side"
    parser.add_argument("--apply", action="store_true", help=text)
    text = f"seconds to measure, not counting process start-up. Default: {SECONDS:g}."
    parser.add_argument("--seconds", type=float, metavar="X", default=SECONDS, help=text)
    add_runs_dir(parser)
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    parser.set_defaults(command=why)


def why(arguments: Namespace) -> int:
    """Measure a step and print the report; with --apply, try the suggestion too."""
    run = open_run(arguments.run, arguments.runs_dir)
    if not run.plan.synchronous:
        return _print_worker_speeds(run, arguments)
    with _progress_line() as on_progress:
        verdict = judge(run, arguments.seconds, on_progress)
    if not arguments.json:
        print(report(verdict, run), flush=True)
    trial = None
    if arguments.apply and verdict.suggestion is not None:
        with _progress_line() as on_progress:
            trial = try_out(run, verdict, on_progress=on_progress)
        if not arguments.json:
            print(f"\n{trial_report(trial)}")
    if arguments.json:
        tried = {"trial": trial.to_json() if trial else None} if arguments.apply else {}
        print(json.dumps({**verdict.to_json(), **tried}))
    return 0


def _print_worker_speeds(run: Run, arguments: Namespace) -> int:
    """Print how long each worker takes, because asynchronous workers have no common step."""
    speeds = worker_speeds(run)
    if arguments.json:
        slowest = slowest_of(speeds)
        task = None if slowest is None else slowest.task
        result = {
            "run": run.id,
            "worker_speeds": [asdict(speed) for speed in speeds],
            "slowest": task,
        }
        print(json.dumps(result))
        return 0
    table = columns(wording.OWN_HEAD, wording.worker_speed_rows(speeds))
    print(*table, "", textwrap.fill(wording.OWN, LINE_WIDTH), sep="\n")
    return 0


def trial_report(trial: Trial) -> str:
    """Return both sides of the trial and its result."""
    return "\n".join([*columns(wording.TRIAL_HEAD, wording.trial_rows(trial)), trial.sentence])


def report(verdict: Verdict, run: Run) -> str:
    """Return the breakdown with bars, the sentence and what to do."""
    found = verdict.breakdown
    lines = [
        f"{run.id}: {wording.step(found)}",
        "",
        *columns(("part", "time", "95 %", "share", "", ""), list(_rows(found))),
        wording.parts_sum(found),
        *wording.unmeasured(found),
        *wording.paces(found),
        *(wording.recorded(verdict), "", verdict.sentence),
    ]
    if not verdict.decided:
        lines += [verdict.advice, f"  {wording.again(verdict, run.id)}"]
        return "\n".join(lines)
    if verdict.suggestion is None:
        return "\n".join([*lines, verdict.advice])
    changes = verdict.suggestion.in_words
    return "\n".join(
        [
            *lines,
            f"Try {changes}. {verdict.suggestion.reason}",
            f"  workbench run --config {shlex.quote(str(run.dir / SUGGESTED))}   trains with it",
            f"  workbench why {shlex.quote(run.id)} --apply   measures both side by side first",
        ]
    )


def _rows(found: Breakdown) -> Iterator[tuple[str, ...]]:
    for row in wording.part_rows(found):
        bar = ("░" if row.within_compute else "█") * round(row.share * BAR_WIDTH)
        name = f"  of which {row.name}" if row.within_compute else row.name
        yield name, row.time, row.interval, f"{row.share:.1%}", bar, row.meaning


@contextmanager
def _progress_line() -> Iterator[OnProgress]:
    """Show the current work and its estimated time on standard error."""
    line, over = ProgressLine(), threading.Event()
    text, end = "", 0.0

    def on_progress(what: str, left_seconds: float) -> None:
        nonlocal text, end
        text, end = f"{what}: about {left_seconds:.0f} s", time.monotonic() + left_seconds
        line.write(text, left_seconds)

    def count_down() -> None:
        while not over.wait(1.0):
            if text:
                line.write(text, max(0.0, end - time.monotonic()))

    clock = threading.Thread(target=count_down, daemon=True)
    clock.start()
    try:
        yield on_progress
    finally:
        over.set()
        clock.join()
        line.end()
