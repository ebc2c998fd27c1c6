"""Waiting for what a background thread does."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def until(condition: Callable[[], Any], seconds: float = 120.0) -> Any:
    """Return the first true value of the condition; fail where none comes in time."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(0.02)
    return value
