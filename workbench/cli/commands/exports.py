"""`workbench export`: runs written for other tools."""

from __future__ import annotations

import json
import shlex
import time
from argparse import ArgumentParser, Namespace

from workbench.cli.flags import add_runs_dir
from workbench.cli.terminal import ProgressLine
from workbench.exports import export_runs
from workbench.runs import open_run

FORMATS = ("csv", "parquet", "tensorboard", "html")


def add_flags(parser: ArgumentParser) -> None:
    """Add the flags."""
    parser.description = "Write runs for other tools. Existing files are never overwritten."
    parser.add_argument("runs", nargs="+", metavar="RUN", help="a run's id or folder")
    text = "csv, parquet: a folder of tables. tensorboard: a folder for tensorboard --logdir. "
    text += "html: one page that opens from disk, to share."
    parser.add_argument("--format", choices=FORMATS, required=True, help=text)
    text = "default: the run's id, or `runs` for several runs, with the format's extension"
    parser.add_argument("-o", "--output", metavar="PATH", help=text)
    add_runs_dir(parser)
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    parser.set_defaults(command=export)


def export(arguments: Namespace) -> int:
    """Write the runs and print the path."""
    runs = [open_run(run, arguments.runs_dir) for run in arguments.runs]
    line, began = ProgressLine(), time.monotonic()

    def show_progress(done: int, total: int) -> None:
        left = (time.monotonic() - began) / done * (total - done)
        line.write(f"{done} of {total} parts written", left)

    try:
        path = export_runs(runs, arguments.format, arguments.output, show_progress)
    finally:
        line.end()
    if arguments.json:
        result = {"runs": [run.id for run in runs], "format": arguments.format, "path": str(path)}
        print(json.dumps(result))
    else:
        print(f"Wrote {path}.{_open_with(arguments.format, str(path))}")
    return 0


def _open_with(format_name: str, path: str) -> str:
    command = f"tensorboard --logdir {shlex.quote(path)}"
    return f" Open it with: {command}" if format_name == "tensorboard" else ""
