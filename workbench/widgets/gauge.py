"""Memory and accelerators in use now, once a second, while somebody has it in sight."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import anywidget

from workbench.devices.usage import UsageMeter
from workbench.feed.meters import meters
from workbench.widgets.kernel.host import CellClock
from workbench.widgets.kernel.poller import Poller
from workbench.widgets.kernel.watchers import Watchers
from workbench.widgets.static import STATIC

if TYPE_CHECKING:
    from workbench.devices import Devices

LOOK_SECONDS = 1.0
HEARING_SECONDS = 60.0
"""How long no cell must have run for a page's silence to mean something."""


class Gauge(anywidget.AnyWidget):
    """Tells pages what the machine is doing; measures nothing where nobody looks.

    So an open notebook that nobody looks at sends nothing, and counts as idle where idle kernels
    are ended.
    """

    _esm = STATIC / "gauge.js"

    def __init__(self, devices: Callable[[], Devices]) -> None:
        super().__init__()
        self._devices = devices
        self._usage = UsageMeter()
        self._watchers = Watchers()
        self._cells = CellClock()
        self.on_msg(lambda _, content, __: self._watchers.hear(content))
        self._poller = Poller(self._turn, lambda _: None)

    def end(self) -> None:
        """Look no more."""
        self._poller.stop()
        self._cells.close()
        self._usage.close()

    def _turn(self) -> float:
        idle_since = self._cells.idle_since
        if idle_since is not None and time.monotonic() - idle_since > HEARING_SECONDS:
            self._watchers.forget_silent()
        if self._watchers:
            devices, usage = self._devices(), self._usage.measure()
            found = meters(usage, gpus=len(devices.gpus), tpu_chips=devices.tpu_chips)
            self.send({"meters": [meter._asdict() for meter in found]})
        return LOOK_SECONDS
