"""Processes forked from one that has imported TensorFlow, which start at once.

Safe because that one has done nothing with it: no operation, no device, one thread. The public
reports of hangs after a fork are of processes that had (tensorflow#2448, #8220, #51832).
Standard library only: a run's supervisor imports it.
"""

from __future__ import annotations

from .fork_server import ColdError, ForkServer, Order
from .forked import Forked

__all__ = ["ColdError", "ForkServer", "Forked", "Order"]
