"""How often a run is read: its curves often, the rest less often, an ended run seldom."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from .parts import parts_of

if TYPE_CHECKING:
    from workbench.runs import Summary

    from .feed import Message, RunFeed

NEWS_SECONDS = 0.1
POLL_SECONDS = 0.5
LOOKS_OF_PROCESSOR, LOOKS_OF_TIME = 30, 3
"""The time from summary to summary, as multiples of the processor time and of the whole time that
a summary takes.

A summary of a long run takes long. Beside a run that uses all cores it waits for its turn, which
costs nothing; on a slow disk it holds back the curves.
"""
OVER_SECONDS = 2.0


class Poll(NamedTuple):
    """The result of one poll."""

    summary: Summary | None
    """The newest summary; None if no summary was due."""
    news: Message | None
    pause_seconds: float
    """The pause until the next poll."""


class Polling:
    """Polls one run, at a rate that its training does not notice; only one thread may use it."""

    def __init__(self, feed: RunFeed) -> None:
        self._feed = feed
        self.last: Summary | None = None
        self._summary_due_at = 0.0

    def poll(self, *, watched: bool) -> Poll:
        """Read the run once; the pause until the next poll is shorter while a page watches.

        Raises:
            RunError: the run's folder is missing or cannot be read.
        """
        began, worked, last = time.monotonic(), time.thread_time(), self.last
        run = self._feed.run
        if last is not None and not last.alive and run.status == last.status:
            return Poll(None, None, OVER_SECONDS)
        summary = parts = None
        if began >= self._summary_due_at:
            self.last = summary = run.summary
            parts = parts_of(run, summary)
            processor_seconds = time.thread_time() - worked
            seconds = time.monotonic() - began
            pauses = LOOKS_OF_PROCESSOR * processor_seconds, LOOKS_OF_TIME * seconds
            self._summary_due_at = began + max(POLL_SECONDS, *pauses)
        news = self._feed.news(parts)
        pause_seconds = NEWS_SECONDS if watched else POLL_SECONDS
        return Poll(summary, news, max(0.02, pause_seconds - (time.monotonic() - began)))
