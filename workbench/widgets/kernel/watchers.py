"""The views of a widget that somebody has in sight, as the pages report them."""

from __future__ import annotations

import time
from typing import Any

SILENCE_SECONDS = 90.0


class Watchers:
    """The views in sight. Each view reports now and then that it is still in sight."""

    def __init__(self) -> None:
        self._reported_at: dict[str, float] = {}

    def __bool__(self) -> bool:
        return bool(self._reported_at)

    def record(self, content: dict[str, Any]) -> None:
        """Record a page's report: `shown` false means out of sight, all else means in sight."""
        if content.get("shown", True):
            self._reported_at[content["view"]] = time.monotonic()
        else:
            self._reported_at.pop(content["view"], None)

    def forget_silent(self) -> None:
        """Forget pages that left silently. Call this only if pages' messages could arrive."""
        now = time.monotonic()
        for view, reported_at in list(self._reported_at.items()):
            if now - reported_at > SILENCE_SECONDS:
                self._reported_at.pop(view, None)
