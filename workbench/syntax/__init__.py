"""The syntax of Python: its parser, for one thread at a time, and new names in a text."""

from .parsing import parse
from .renaming import own_name, renamed

__all__ = ["own_name", "parse", "renamed"]
