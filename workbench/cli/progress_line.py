"""One line on standard error that shows the progress of long work."""

from __future__ import annotations

import sys
from datetime import timedelta


class ProgressLine:
    """A line that is rewritten on a terminal. Elsewhere a new line follows if the words changed."""

    def __init__(self) -> None:
        self._last = ""

    def write(self, words: str, eta_seconds: float | None = None, aside: str = "") -> None:
        """Show the progress. The time left and the aside appear only on a terminal."""
        if sys.stderr.isatty():
            left = "" if eta_seconds is None else f", {timedelta(seconds=round(eta_seconds))} left"
            print(f"\r\033[K{words}{left}{aside}", end="", file=sys.stderr, flush=True)
        elif words != self._last:
            self._last = words
            print(words, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Remove the line."""
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)
