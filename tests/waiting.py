"""Waiting for what another process or thread does."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

LIMIT_SECONDS = 600.0
"""What anything may take that a test waits for: a slow machine passes, and only a hang fails."""
POLL_SECONDS = 0.01


def until(condition: Callable[[], Any]) -> Any:
    """Return the first true value of the condition; fail where none comes in time."""
    deadline = time.monotonic() + LIMIT_SECONDS
    while not (value := condition()):
        assert time.monotonic() < deadline, f"not within {LIMIT_SECONDS:g} s: {condition}"
        time.sleep(POLL_SECONDS)
    return value
