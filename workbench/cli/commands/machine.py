"""`workbench detect` and `workbench lab`: show this machine's devices, and open the workbench."""

from __future__ import annotations

import json
from argparse import Namespace

from workbench.cli.outcome import OK
from workbench.devices import describe, detect


def detect_devices(arguments: Namespace) -> int:
    """`workbench detect`."""
    devices = detect(arguments.interpreter)
    print(json.dumps(devices.to_json()) if arguments.json else describe(devices))
    return OK


def lab(arguments: Namespace) -> int:
    """`workbench lab`: this process becomes JupyterLab."""
    from workbench.lab import launch

    return launch(arguments.runs_dir, open_browser=not arguments.no_browser)
