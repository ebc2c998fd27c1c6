"""The current use of memory and accelerators, once a second, while a page shows it."""

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
from workbench.widgets.parts.page_parts import shared_layout
from workbench.widgets.static import STATIC

if TYPE_CHECKING:
    from workbench.devices import Devices

POLL_SECONDS = 1.0
HEARING_SECONDS = 60.0
"""The silence of a page counts only if no cell has run for this long."""


class Gauge(anywidget.AnyWidget):
    """A widget that sends the load of the machine to pages, and measures only while one shows it.

    So an open notebook that no page shows sends nothing. A host that ends idle kernels counts it
    as idle.
    """

    _esm = STATIC / "gauge.js"

    def __init__(self, devices: Callable[[], Devices]) -> None:
        super().__init__(layout=shared_layout(visible=True))
        self._devices = devices
        self._usage = UsageMeter()
        self._watchers = Watchers()
        self._cells = CellClock()
        self.on_msg(lambda _, content, __: self._watchers.record(content))
        self._poller = Poller(self._turn, lambda _: None)

    def end(self) -> None:
        """Stop measuring."""
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
        return POLL_SECONDS
