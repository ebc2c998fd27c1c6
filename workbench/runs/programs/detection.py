"""The detection of devices by a forked process, where a server has loaded TensorFlow already."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from workbench import devices
from workbench.devices.child import Process, start_cold
from workbench.devices.nvidia import driver_gpus, visible
from workbench.forking import Order
from workbench.runs.folder.files import RunError, read_json
from workbench.runs.folder.locks import state_dir
from workbench.runs.processes.environment import Launch
from workbench.runs.processes.forks import Forks

LOADING_SECONDS = 0.2
"""The seconds between two checks whether TensorFlow has been loaded."""


def detect_devices(interpreter: str | None = None, timeout_seconds: float = 300) -> devices.Devices:
    """Return the devices as `workbench.devices.detect` does; None means this Python.

    If a forked process lists none of the GPUs that the driver has and the environment shows, a
    second process starts cold: the log of TensorFlow's import gives the reason, and only a process
    that imports TensorFlow has this log.

    Raises:
        DeviceError: the interpreter cannot be asked.
    """
    with _starter(interpreter or sys.executable) as starter:
        found = devices.detect(interpreter, timeout_seconds, begin=starter.begin)
    if found.gpus or not (starter.forked and visible(driver_gpus(), os.environ)):
        return found
    return devices.detect(interpreter, timeout_seconds)


def devices_of(run_dir: Path) -> devices.Devices:
    """Return the devices for which a run was planned; of one started by hand, those of here.

    Raises:
        RunError: the run cannot be read, or its interpreter cannot be asked.
    """
    path = run_dir / "devices.json"
    if path.exists():
        return devices.Devices.from_json(read_json(path))
    try:
        return detect_devices(Launch.of(run_dir).interpreter)
    except devices.DeviceError as error:
        raise RunError(str(error)) from error


@dataclass
class _Starter:
    """The start of a process: forked if a server is there or is loading, else cold."""

    forks: Forks | None
    forked: bool = False
    """Whether the last process was forked."""

    def begin(
        self, command: list[str], environment: dict[str, str], streams: tuple[int, int, int]
    ) -> Process:
        order = Order(command[1:], Path.cwd(), environment, streams)
        process = self.forks.fork(order) if self.forks is not None else None
        self.forked = process is not None
        return process or start_cold(command, environment, streams)


@contextlib.contextmanager
def _starter(interpreter: str) -> Iterator[_Starter]:
    """Yield a starter; wait first for a server that is loading."""
    try:
        forks = Forks(Launch(interpreter, Path.cwd()), state_dir())
    except RunError:  # no place for a server's files
        yield _Starter(None)
        return
    try:
        forks.prepare(lambda: time.sleep(LOADING_SECONDS), lambda: False, several=False)
        yield _Starter(forks)
    finally:
        forks.close()
