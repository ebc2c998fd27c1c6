"""Which Keras runs it, and what is known to be wrong with the one there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .problems import Findings

if TYPE_CHECKING:
    from ..catalog import Strategy
    from ..config import RunConfig
    from ..devices import Devices

LEGACY_NOTE = (
    "tf.keras is the tf-keras package in this run: Keras 3's fit takes no DatasetCreator, which "
    "ParameterServer needs (tensorflow issue 55668)."
)


def uses_legacy_keras(config: RunConfig, strategy: Strategy) -> bool:
    """Return whether only the tf-keras package can run it."""
    return config.loop == "fit" and not strategy.synchronous


def check_keras(
    findings: Findings, config: RunConfig, strategy: Strategy, devices: Devices
) -> None:
    """Note a Keras that is missing."""
    if uses_legacy_keras(config, strategy) and devices.tf_keras_version is None:
        rule = "custom with this strategy where the tf-keras package is not installed"
        fix = (
            f"Run {devices.interpreter} -m pip install tf-keras, or choose the loop custom. "
            f"{LEGACY_NOTE}"
        )
        findings.add("loop", rule, config.loop, fix)
