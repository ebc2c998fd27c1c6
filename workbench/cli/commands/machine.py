"""Commands about this machine: show its devices, make an environment, open JupyterLab."""

from __future__ import annotations

import json
import shlex
import sys
from argparse import ArgumentParser, Namespace
from dataclasses import asdict

from workbench.cli.flags import add_runs_dir
from workbench.cli.terminal import OK
from workbench.devices import describe, detect
from workbench.environments import BUILDS, Build, Made, MakingError, Progress, fitting_build
from workbench.environments import make_environment as make
from workbench.hosts import host_line, host_name
from workbench.runs.folder.files import runs_root

GIB = 2**30


def detect_flags(parser: ArgumentParser) -> None:
    """Add the flags of `workbench detect`."""
    parser.add_argument("--interpreter", help="the Python that trains")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(command=detect_devices)


def detect_devices(arguments: Namespace) -> int:
    """`workbench detect`."""
    devices = detect(arguments.interpreter)
    if arguments.json:
        print(json.dumps({**devices.to_json(), "host": host_name()}))
    else:
        print(describe(devices), "", f"Host: {host_line(runs_root())}", sep="\n")
    return OK


def lab_flags(parser: ArgumentParser) -> None:
    """Add the flags of `workbench lab`."""
    add_runs_dir(parser)
    parser.add_argument("--no-browser", action="store_true", help="print the address only")
    parser.set_defaults(command=lab)


def lab(arguments: Namespace) -> int:
    """`workbench lab`: this process becomes JupyterLab."""
    from workbench.lab import launch

    return launch(arguments.runs_dir, open_browser=not arguments.no_browser)


def environment_flags(parser: ArgumentParser) -> None:
    """Add the flags of `workbench environment`."""
    parser.description = (
        "Make a separate Python environment for runs, such as one with TensorFlow's TPU build on a"
        " TPU runtime, and print its interpreter. Installed packages do not change. Ctrl-C cancels."
    )
    text = "the build of TensorFlow. Default: the one that this machine needs and lacks."
    parser.add_argument("--build", choices=BUILDS, help=text)
    parser.add_argument("--interpreter", help="the Python to make it from")
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    parser.set_defaults(command=environment)


def environment(arguments: Namespace) -> int:
    """`workbench environment`: make or find it, show the progress, and print its interpreter."""
    build = _build(arguments)
    loads, takes = build.download_bytes / GIB, build.disk_bytes / GIB
    needed = f"downloads up to {loads:.1f} GiB, uses up to {takes:.1f} GiB of disk, takes minutes"
    print(f"{build.label}: {needed}.", file=sys.stderr)
    made = make(build, arguments.interpreter, on_progress=_ProgressPrinter().show)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    _print_result(made)
    print(json.dumps(asdict(made)) if arguments.json else made.interpreter)
    return 0


def _build(arguments: Namespace) -> Build:
    if arguments.build is not None:
        return BUILDS[arguments.build]
    devices = detect(arguments.interpreter)
    build = fitting_build(devices)
    if build is None:
        raise MakingError(
            "The interpreter already has the TensorFlow that this machine needs",
            f"{devices.interpreter} with TensorFlow {devices.tensorflow_version or 'not installed'}"
            f" and {devices.tpu_chips} TPU chips",
            f"Choose a build with --build {' or '.join(BUILDS)}, or install the missing GPU parts "
            "that `workbench detect` names.",
        )
    return build


def _print_result(made: Made) -> None:
    for note in made.notes:
        print(f"Note: {note}", file=sys.stderr)
    how = "already existed" if made.reused else f"was made in {made.elapsed_seconds:.0f} s"
    use = f"workbench run --interpreter {shlex.quote(made.interpreter)}"
    print(f"The environment {how}. Train with: {use}", file=sys.stderr)


class _ProgressPrinter:
    """A reporter of the progress: one line per step.

    On a terminal the line is rewritten, and also shows the last line of the active tool.
    """

    def __init__(self) -> None:
        self._number = 0

    def show(self, progress: Progress) -> None:
        """Show the progress."""
        step = f"{progress.number} of {progress.steps}: {progress.step}"
        if sys.stderr.isatty():
            line = f"{progress.elapsed_seconds:4.0f} s  {step}  {progress.line}"
            print(f"\r\033[K{line[:99]}", end="", file=sys.stderr, flush=True)
        elif progress.number != self._number:
            self._number = progress.number
            print(step, file=sys.stderr, flush=True)
