"""What a page is told of a run, whether it hears it from a kernel or from a server."""

from .account import Look, describe, title_of
from .feed import VERSION, Message, RunFeed, nothing

__all__ = ["VERSION", "Look", "Message", "RunFeed", "describe", "nothing", "title_of"]
