"""Functions of a notebook as standalone text, with everything that they use."""

from .address import address_of
from .capture import Captured, capture
from .home import Home, home_of

__all__ = ["Captured", "Home", "address_of", "capture", "home_of"]
