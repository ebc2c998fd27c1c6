"""`workbench detect` and `workbench lab`: show this machine's devices, and open the workbench."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace

from workbench.cli.flags import add_runs_dir
from workbench.cli.outcome import OK
from workbench.devices import describe, detect
from workbench.hosts import host_line, host_name
from workbench.runs.folder.files import runs_root


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
