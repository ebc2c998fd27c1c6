"""The load of the machine, once a second, while a page shows it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from workbench.devices import tpu
from workbench.devices.usage import UsageMeter
from workbench.feed.meters import meters

from .channel import Channel, Frame, Listener
from .frames import packed

DRIVER = Path("/proc/driver/nvidia/gpus")
"""It contains a folder for each GPU of the driver; Linux only."""


class DevicesChannel(Channel):
    """A channel that measures once for all pages; it rests while no page shows the load."""

    def __init__(self) -> None:
        super().__init__()
        self._meter = UsageMeter()
        self._last: Frame = ""
        self._tpu_chips = tpu.find(Path("/"), os.environ).chips

    def greet(self, listener: Listener) -> None:
        if self._last:
            listener(self._last)

    def measured(self) -> dict[str, Any]:
        """Measure once and return the meters.

        The processor's load is the mean since the previous measurement.
        """
        gpus = len(list(DRIVER.iterdir())) if DRIVER.is_dir() else 0
        found = meters(self._meter.measure(), gpus=gpus, tpu_chips=self._tpu_chips)
        return {"channel": "devices", "meters": [meter._asdict() for meter in found]}

    def poll(self) -> float:
        frame = packed(self.measured())
        with self.guard:
            self._last = frame
            self.send(frame)
        return self.pause_seconds

    def failed(self, error: Exception) -> None:
        self.send(packed({"channel": "devices", "error": str(error)}))
