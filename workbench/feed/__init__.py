"""The messages about a run that a page receives, from a kernel or from a server."""

from .feed import VERSION, Message, RunFeed, nothing
from .polling import Poll, Polling
from .row import row_of
from .snapshot import RunSnapshot, describe

__all__ = [
    "VERSION",
    "Message",
    "Poll",
    "Polling",
    "RunFeed",
    "RunSnapshot",
    "describe",
    "nothing",
    "row_of",
]
