"""All strategies that a machine can run, compared: the number of steps, and the limit to go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.catalog import STRATEGIES
from workbench.experiments.matrix import usual_steps

from .advice import SIMPLEST_FIRST

if TYPE_CHECKING:
    from workbench.devices import Devices

DROP_BELOW = 0.5
"""A strategy with less than this share of the best's speed is not repeated."""
_STEPS = {"synthetic": 3_000}


def contenders(devices: Devices) -> list[str]:
    """Return the strategies that take part, the simplest first."""
    able = (name for name, each in STRATEGIES.items() if not each.tpu or devices.tpu_chips)
    return sorted(able, key=SIMPLEST_FIRST.index)


def steps_that_show_speed(data: str) -> int:
    """Return how many steps a run needs to show its speed.

    For synthetic data they take some seconds with a small model; else they are `usual_steps`.
    """
    return _STEPS.get(data, usual_steps(data))
