"""The orders of a comparison's rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.experiments import Row

SORTS: Mapping[str, Callable[[Row], float]] = {
    "speed": lambda row: -(row.examples_per_second or 0.0),
    "loss": lambda row: _last(row.loss),
    "test loss": lambda row: _last(row.test_loss),
    "accuracy": lambda row: -(row.last_accuracy or 0.0),
    "time to the target": lambda row: _last(row.target_seconds),
    "memory": lambda row: _last(row.peak_host_bytes),
}
"""The sort keys by the names of the orders; the best row is first, unknown values are last."""


def _last(value: float | None) -> float:
    return math.inf if value is None else value
