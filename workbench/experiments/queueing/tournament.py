"""All strategies that a machine can run, compared: the number of steps, and the limit to go on."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.catalog import SIMPLEST_FIRST, STRATEGIES
from workbench.experiments.matrix import usual_steps

if TYPE_CHECKING:
    from workbench.config import RunConfig
    from workbench.devices import Devices

DROP_BELOW = 0.5
"""A strategy with less than this share of the best's speed is not repeated."""
_STEPS = {"synthetic": 3_000}
"""Steps that take some seconds with a small model; for other data, `usual_steps` are taken."""


def contenders(devices: Devices) -> list[str]:
    """Return the strategies that take part, the simplest first."""
    return [name for name in SIMPLEST_FIRST if not STRATEGIES[name].tpu or devices.tpu_chips]


def to_be_compared(
    config: RunConfig, target_accuracy: float | None, steps: int | None = None
) -> RunConfig:
    """Return the config of a run with so many steps; None: enough steps to show its speed.

    All steps are in one epoch. With a target, they are spread over the epochs of the config, at
    least one step each, because accuracy is checked only at the end of an epoch.
    """
    epochs = 1 if target_accuracy is None else max(1, config.epochs)
    in_all = steps or _STEPS.get(config.data, usual_steps(config.data))
    return replace(config, epochs=epochs, steps_per_epoch=math.ceil(in_all / epochs))
