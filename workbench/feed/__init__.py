"""The messages about a run that a page receives, from a kernel or from a server."""

from .account import RunSnapshot, describe
from .feed import VERSION, Message, RunFeed, nothing
from .pace import Pace, Turn
from .row import row_of

__all__ = [
    "VERSION",
    "Message",
    "Pace",
    "RunFeed",
    "RunSnapshot",
    "Turn",
    "describe",
    "nothing",
    "row_of",
]
