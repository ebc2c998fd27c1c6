"""Progress reports while an environment is made, and the check for cancellation."""

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
    """The current step of the making."""

    number: int
    steps: int
    step: str
    """Such as `installing tensorflow-tpu==2.20.0`."""
    line: str
    """The last line that the current tool wrote; may be empty."""
    elapsed_seconds: float
    """The time since the making started."""


class ProgressReport:
    """A counter of steps and time, which reports both to the caller."""

    def __init__(
        self, steps: int, on_progress: Callable[[Progress], None], stopped: Callable[[], bool]
    ) -> None:
        self._steps, self._on_progress, self._stopped = steps, on_progress, stopped
        self._began = time.monotonic()
        self._number, self._step, self._line = 0, "", ""

    @property
    def elapsed_seconds(self) -> float:
        """The time since the making started."""
        return time.monotonic() - self._began

    def begin(self, step: str) -> None:
        """Go on to the next step.

        Raises:
            CancelledError: the caller cancelled.
        """
        self._number += 1
        self._step, self._line = step, ""
        self.tick()

    def tick(self, line: str = "") -> None:
        """Report the current progress; `line` is a tool's new output, empty if there is none.

        Raises:
            CancelledError: the caller cancelled.
        """
        if self._stopped():
            raise CancelledError
        self._line = line or self._line
        self._on_progress(
            Progress(self._number, self._steps, self._step, self._line, self.elapsed_seconds)
        )

    def during(self, work: Callable[[], T]) -> T:
        """Return the result of `work`, and tick while it runs; it always runs to its end.

        Raises:
            CancelledError: the caller cancelled, and the work has ended.
        """
        with ThreadPoolExecutor(1) as pool:
            result = pool.submit(work)
            while not wait([result], TICK_SECONDS).done:
                self.tick()
        return result.result()
