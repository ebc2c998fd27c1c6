"""How far it is, told while it goes on, and whether it is to go on at all."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TypeVar

from workbench.environments.errors import CancelledError

T = TypeVar("T")

TICK_SECONDS = 0.2


@dataclass(frozen=True)
class Progress:
    """What is being done now."""

    number: int
    steps: int
    step: str
    """Such as `installing tensorflow-tpu==2.20.0`."""
    line: str
    """What the tool at work wrote last; may be empty."""
    elapsed_seconds: float
    """Since the making began."""


class Account:
    """Counts the steps and the time, and passes both on."""

    def __init__(
        self, steps: int, told: Callable[[Progress], None], stopped: Callable[[], bool]
    ) -> None:
        self._steps, self._told, self._stopped = steps, told, stopped
        self._began = time.monotonic()
        self._number, self._step, self._line = 0, "", ""

    @property
    def elapsed_seconds(self) -> float:
        """Since the making began."""
        return time.monotonic() - self._began

    def begin(self, step: str) -> None:
        """Go on to the next step.

        Raises:
            CancelledError: someone asked for it.
        """
        self._number += 1
        self._step, self._line = step, ""
        self.tick()

    def tick(self, line: str = "") -> None:
        """Tell of now; `line` is what a tool wrote, empty where it wrote nothing new.

        Raises:
            CancelledError: someone asked for it.
        """
        if self._stopped():
            raise CancelledError
        self._line = line or self._line
        self._told(
            Progress(self._number, self._steps, self._step, self._line, self.elapsed_seconds)
        )

    def during(self, work: Callable[[], T]) -> T:
        """Return what `work` returns, and tick while it goes on; it is not cut short.

        Raises:
            CancelledError: someone asked for it, and the work is over.
        """
        with ThreadPoolExecutor(1) as pool:
            result = pool.submit(work)
            while not wait([result], TICK_SECONDS).done:
                self.tick()
        return result.result()
