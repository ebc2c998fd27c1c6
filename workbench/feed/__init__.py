"""The messages about a run that a page receives, from a kernel or from a server."""

from .feed import VERSION, Message, RunFeed, nothing
from .parts import describe, ends_of_logs, parts_of, row_of
from .polling import Poll, Polling

__all__ = [
    "VERSION",
    "Message",
    "Poll",
    "Polling",
    "RunFeed",
    "describe",
    "ends_of_logs",
    "nothing",
    "parts_of",
    "row_of",
]
