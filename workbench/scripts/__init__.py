"""A saved script comes back: what of it is a config, what is kept, what the form cannot say."""

from ..plan.launching import NOT_TOLD
from .difference import Row, Side, side_by_side, unified
from .parts import ScriptError
from .reading import Opened, read_script
from .telling import Told, sentences

__all__ = [
    "NOT_TOLD",
    "Opened",
    "Row",
    "ScriptError",
    "Side",
    "Told",
    "read_script",
    "sentences",
    "side_by_side",
    "unified",
]
