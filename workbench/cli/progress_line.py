"""One line on standard error that tells how far long work is."""

from __future__ import annotations

import sys
from datetime import timedelta


class ProgressLine:
    """A line that is rewritten on a terminal; elsewhere a line wherever its words have changed."""

    def __init__(self) -> None:
        self._last = ""

    def write(self, words: str, eta_seconds: float | None = None, aside: str = "") -> None:
        """Tell how far it is; what is left, and the aside, only where the line is rewritten."""
        if sys.stderr.isatty():
            left = "" if eta_seconds is None else f", {timedelta(seconds=round(eta_seconds))} left"
            print(f"\r\033[K{words}{left}{aside}", end="", file=sys.stderr, flush=True)
        elif words != self._last:
            self._last = words
            print(words, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Take the line away."""
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)
