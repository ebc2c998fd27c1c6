"""The channel of one run, for all pages that show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.feed import Message, Polling, RunFeed
from workbench.runs.records.live import Window

from .channel import Channel, Listener
from .frames import packed

if TYPE_CHECKING:
    from workbench.runs import Run


class RunChannel(Channel):
    """A channel that sends the same numbered messages to all pages.

    A new page first gets the complete message, with the number of the last message.
    """

    def __init__(self, run: Run, address: dict[str, str]) -> None:
        """`address` is part of each message, so that a page knows the run of the message.

        Raises:
            RunError: the run's plan cannot be read.
        """
        super().__init__()
        self.run = run
        self._address = address
        self._feed = RunFeed(run)
        self._polling = Polling(self._feed)
        self.over = False
        """Whether the channel failed, so that no more messages can follow."""

    def greet(self, listener: Listener) -> None:
        listener(self._packed(self._feed.whole()))

    def poll(self) -> float:
        with self.guard:  # so a page that joins now gets the news once, in `greet` or from `send`
            poll = self._polling.poll(watched=self.has_listeners)
            if poll.news is not None:
                self.send(self._packed(poll.news))
        return poll.pause_seconds

    def failed(self, error: Exception) -> None:
        self.over = True
        self.send(self._packed(self._feed.end(f"The run cannot be shown: {error}")))

    def closer(self, request: str, window: Window) -> str | bytes:
        """Return a part of the run in more detail; `request` is the page's name for the request."""
        return self._packed(self._feed.closer(request, window))

    def _packed(self, message: Message) -> str | bytes:
        return packed({**self._address, "message": message.content}, message.buffers)
