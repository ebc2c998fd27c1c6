"""`workbench scale`: a text that shows how far more replicas help a run."""

from __future__ import annotations

import json
import sys
import textwrap
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.flags import add_runs_dir
from workbench.cli.terminal import OK, OutputError
from workbench.cli.watching import LINE_WIDTH, columns
from workbench.experiments import scaling_wording as wording
from workbench.experiments.scaling import STEPS, Scaling, expected_seconds, should_scale, speeds_of
from workbench.runs import open_run

if TYPE_CHECKING:
    from workbench.runs import Run


def add_flags(parser: ArgumentParser) -> None:
    """Add the flags."""
    parser.description = (
        "Measure the gradient noise scale of a run at its newest checkpoint. It shows up to which"
        " global batch size more replicas help, and the examples per second. The run itself does"
        " not change. Ctrl-C cancels."
    )
    parser.add_argument("run", metavar="RUN", help="a run's id or folder")
    text = f"batches to measure, fewer if the data has fewer. Default: {STEPS}."
    parser.add_argument("--steps", type=int, metavar="K", default=STEPS, help=text)
    text = "also measure with the initial weights and at each older checkpoint that is kept."
    parser.add_argument("--growth", action="store_true", help=text)
    text = "other runs of the same model and data, to show their goodput too."
    parser.add_argument("--beside", nargs="+", metavar="RUN", default=[], help=text)
    parser.add_argument("--html", metavar="FILE", help="save the figure as an HTML page")
    add_runs_dir(parser)
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    parser.set_defaults(command=scale)


def scale(arguments: Namespace) -> int:
    """Measure and print the answer; save the figure if a file is named."""
    run = open_run(arguments.run, arguments.runs_dir)
    beside = speeds_of(run, [open_run(each, arguments.runs_dir) for each in arguments.beside])
    page = None if arguments.html is None else Path(arguments.html)
    if page is not None and (page.exists() or not page.parent.is_dir()):
        raise _unsaved(page, "the file exists" if page.exists() else "its folder does not exist")
    announce(run, arguments.steps)
    answer = should_scale(run, arguments.steps, growth=arguments.growth, beside=beside)
    if page is not None:
        save(answer, page)
    print(json.dumps(answer.to_json()) if arguments.json else report(answer))
    return OK


def announce(run: Run, steps: int) -> None:
    """Print the measurement that starts now, and how long its steps took in the run itself."""
    seconds = expected_seconds(run, steps)
    took = "" if seconds is None else f" The run itself took {seconds:,.0f} s for as many steps."
    where = f"at the newest checkpoint of {run.id}, without training."
    print(f"Measuring up to {steps:,} steps {where}{took}", file=sys.stderr, flush=True)


def report(answer: Scaling) -> str:
    """Return the answer and the measurements behind it."""
    scales = [f"noise scale  {where:<18} {scale}" for where, scale in wording.scales(answer)]
    return "\n".join([answer.sentence, "", *scales, "", *_tables(answer)])


def _tables(answer: Scaling) -> Iterator[str]:
    yield from columns(wording.HEAD, wording.larger_rows(answer))
    yield from ("", textwrap.fill(wording.EXPLAINED, LINE_WIDTH))
    if answer.goodput:
        yield from ("", *columns(wording.GOODPUT_HEAD, wording.goodput_rows(answer)), "")
    yield from wording.goodput_notes(answer)


def save(answer: Scaling, path: Path) -> None:
    """Write the figure, with all that it needs, to a new file.

    Raises:
        OutputError: the file exists meanwhile, or it cannot be written.
    """
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(answer.figure().to_html())
    except OSError as error:
        raise _unsaved(path, str(error.strerror)) from error


def _unsaved(path: Path, why: str) -> OutputError:
    return OutputError(
        f"Cannot save the figure as {path}: {why}. Choose a new name in a folder that can be "
        "written."
    )
