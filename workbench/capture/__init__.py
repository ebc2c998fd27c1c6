"""Functions of a notebook as text that stands alone, with all that they use."""

from .capture import Captured, capture
from .home import Home, home_of

__all__ = ["Captured", "Home", "capture", "home_of"]
