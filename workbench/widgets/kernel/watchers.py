"""Which views of a widget somebody has in sight, by what the pages themselves say."""

from __future__ import annotations

import time
from typing import Any

SILENCE_SECONDS = 90.0


class Watchers:
    """Remembers the views in sight; each says now and then that it still is."""

    def __init__(self) -> None:
        self._heard_at: dict[str, float] = {}

    def __bool__(self) -> bool:
        return bool(self._heard_at)

    def hear(self, content: dict[str, Any]) -> None:
        """Take a page's word: `shown` false is out of sight, all else in sight."""
        if content.get("shown", True):
            self._heard_at[content["view"]] = time.monotonic()
        else:
            self._heard_at.pop(content["view"], None)

    def forget_silent(self) -> None:
        """Forget pages that went without a word; to be called where pages could be heard."""
        now = time.monotonic()
        for view, heard_at in list(self._heard_at.items()):
            if now - heard_at > SILENCE_SECONDS:
                self._heard_at.pop(view, None)
