"""The reading of a saved script: its config, the user's functions in it, and what was edited."""

from .difference import Row, Side, side_by_side, unified
from .own_code import ScriptError
from .reading import Opened, read_script

__all__ = [
    "Opened",
    "Row",
    "ScriptError",
    "Side",
    "read_script",
    "side_by_side",
    "unified",
]
