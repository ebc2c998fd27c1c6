"""How often a run is read: its curves often, the rest less often, an ended run seldom."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from .snapshot import RunSnapshot

if TYPE_CHECKING:
    from .feed import Message, RunFeed

NEWS_SECONDS = 0.1
POLL_SECONDS = 0.5
LOOKS_OF_PROCESSOR, LOOKS_OF_TIME = 30, 3
"""The time from snapshot to snapshot, as multiples of the processor time and of the whole time that
a snapshot takes.

A snapshot of a long run takes long. Beside a run that uses all cores it waits for its turn, which
costs nothing; on a slow disk it holds back the curves.
"""
OVER_SECONDS = 2.0


class Poll(NamedTuple):
    """The result of one poll."""

    snapshot: RunSnapshot | None
    """The newest snapshot; None if no snapshot was due."""
    news: Message | None
    pause_seconds: float
    """The pause until the next poll."""


class Polling:
    """Polls one run, at a rate that its training does not notice; only one thread may use it."""

    def __init__(self, feed: RunFeed) -> None:
        self._feed = feed
        self.last: RunSnapshot | None = None
        self._snapshot_due_at = 0.0

    def poll(self, *, watched: bool) -> Poll:
        """Read the run once; the pause until the next poll is shorter while a page watches.

        Raises:
            RunError: the run's folder is missing or cannot be read.
        """
        began, worked, last = time.monotonic(), time.thread_time(), self.last
        run = self._feed.run
        if last is not None and not last.alive and run.status == last.status:
            return Poll(None, None, OVER_SECONDS)
        snapshot = None
        if began >= self._snapshot_due_at:
            self.last = snapshot = RunSnapshot.at(run, self._feed.plan)
            processor_seconds = time.thread_time() - worked
            seconds = time.monotonic() - began
            pauses = LOOKS_OF_PROCESSOR * processor_seconds, LOOKS_OF_TIME * seconds
            self._snapshot_due_at = began + max(POLL_SECONDS, *pauses)
        news = self._feed.news(snapshot)
        pause_seconds = NEWS_SECONDS if watched else POLL_SECONDS
        return Poll(snapshot, news, max(0.02, pause_seconds - (time.monotonic() - began)))
