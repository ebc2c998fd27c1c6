"""How often a run is looked at: at its curves often, at all else now and then, over seldom."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from .account import RunSnapshot

if TYPE_CHECKING:
    from .feed import Message, RunFeed

NEWS_SECONDS = 0.1
LOOK_SECONDS = 0.5
LOOKS_SHARE = 30
"""How many times as long as a look takes until the next: long runs have much to look at."""
OVER_SECONDS = 2.0


class Turn(NamedTuple):
    """What a turn found."""

    look: RunSnapshot | None
    """The newest account; None where it was not due."""
    news: Message | None
    pause_seconds: float
    """Until the next turn."""


class Pace:
    """Takes the turns of one run; to be asked from one thread."""

    def __init__(self, feed: RunFeed) -> None:
        self._feed = feed
        self.last: RunSnapshot | None = None
        self._look_due_at = 0.0

    def turn(self, *, watched: bool) -> Turn:
        """Look at the run; more often where somebody watches.

        Raises:
            RunError: its folder is gone or cannot be read.
        """
        began, last, run = time.monotonic(), self.last, self._feed.run
        if last is not None and not last.alive and run.status == last.status:
            return Turn(None, None, OVER_SECONDS)
        look = None
        if began >= self._look_due_at:
            self.last = look = RunSnapshot.at(run, self._feed.plan)
            took = time.monotonic() - began
            self._look_due_at = began + max(LOOK_SECONDS, LOOKS_SHARE * took)
        news = self._feed.news(look)
        pause_seconds = NEWS_SECONDS if watched else LOOK_SECONDS
        return Turn(look, news, max(0.02, pause_seconds - (time.monotonic() - began)))
