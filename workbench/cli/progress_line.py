"""One line on standard error that shows the progress of long work."""

from __future__ import annotations

import sys
from datetime import timedelta


class ProgressLine:
    """A line that is rewritten on a terminal. Elsewhere a new line follows if the text changed."""

    def __init__(self) -> None:
        self._last = ""

    def write(self, text: str, eta_seconds: float | None = None, aside: str = "") -> None:
        """Show the progress. The time left and the aside appear only on a terminal."""
        if sys.stderr.isatty():
            left = "" if eta_seconds is None else f", {timedelta(seconds=round(eta_seconds))} left"
            print(f"\r\033[K{text}{left}{aside}", end="", file=sys.stderr, flush=True)
        elif text != self._last:
            self._last = text
            print(text, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Remove the line."""
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)
