"""The reading of a saved script: its config, the kept functions, and the parts without a field."""

from ..plan.launching import NOT_IN_SCRIPTS
from .difference import Row, Side, side_by_side, unified
from .merging import Merged
from .parts import ScriptError
from .reading import Opened, read_script
from .wording import Difference, sentences

__all__ = [
    "NOT_IN_SCRIPTS",
    "Difference",
    "Merged",
    "Opened",
    "Row",
    "ScriptError",
    "Side",
    "read_script",
    "sentences",
    "side_by_side",
    "unified",
]
