"""Processes forked from a process that has imported TensorFlow, so that they start immediately.

This is safe because that process has not used TensorFlow: no operation, no device, one thread. The
public reports of hangs after a fork are about processes that had used it (tensorflow#2448, #8220,
#51832). The package needs the standard library only, because a run's supervisor imports it.
"""

from __future__ import annotations

from .fork_server import ColdError, ForkServer, Order
from .forked import Forked

__all__ = ["ColdError", "ForkServer", "Forked", "Order"]
