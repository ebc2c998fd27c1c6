"""The detection of devices by a forked process, where a server has loaded TensorFlow already."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from workbench import devices
from workbench.devices.child import Begin, Process, start_cold
from workbench.devices.nvidia import driver_gpus
from workbench.forking import Order
from workbench.runs.folder.files import RunError
from workbench.runs.folder.locks import state_dir
from workbench.runs.processes.environment import Launch
from workbench.runs.processes.forks import Forks

LOADING_SECONDS = 0.2
"""The seconds between two checks whether TensorFlow has been loaded."""


def detect_devices(interpreter: str | None = None, timeout_seconds: float = 300) -> devices.Devices:
    """Return the devices as `workbench.devices.detect` does; None means this Python.

    With a GPU of NVIDIA's driver the process starts cold: if TensorFlow cannot use the GPU, the
    log of its import gives the reason.

    Raises:
        DeviceError: the interpreter cannot be asked.
    """
    if driver_gpus():
        return devices.detect(interpreter, timeout_seconds)
    with _starter(interpreter or sys.executable) as begin:
        return devices.detect(interpreter, timeout_seconds, begin=begin)


@contextlib.contextmanager
def _starter(interpreter: str) -> Iterator[Begin]:
    """Yield the start of a process: forked if a server is there or is loading, else cold."""
    try:
        forks = Forks(Launch(interpreter, Path.cwd(), None), state_dir())
    except RunError:  # no place for a server's files
        yield start_cold
        return

    def begin(
        command: list[str], environment: dict[str, str], streams: tuple[int, int, int]
    ) -> Process:
        order = Order(command[1:], Path.cwd(), environment, streams)
        return forks.fork(order) or start_cold(command, environment, streams)

    try:
        forks.prepare(lambda: time.sleep(LOADING_SECONDS), lambda: False, several=False)
        yield begin
    finally:
        forks.close()
