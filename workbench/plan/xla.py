"""Checks for steps that XLA cannot compile, as far as the config shows."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ..config import RunConfig
from .problems import Findings

if TYPE_CHECKING:
    from ..catalog import Strategy
    from .placement import Placement

OFF = "Turn xla off"


def check_xla(
    findings: Findings, config: RunConfig, strategy: Strategy, placement: Placement
) -> None:
    """Note fields that prevent XLA from compiling the step of a replica."""
    if not config.xla:
        return
    if config.eager:
        findings.add("xla", "off with eager, which runs without graphs", True, f"{OFF}, or eager.")
    if placement.kind == "GPU" and sys.platform == "darwin":
        rule = "off on a Mac's GPU, for which TensorFlow has no XLA"
        findings.add("xla", rule, True, f"{OFF}, or choose the device CPU:0.")
    if strategy.mirrors or strategy.workers:
        _check_sums(findings, config)


def _check_sums(findings: Findings, config: RunConfig) -> None:
    """Note a step that waits for the other replicas before its update."""
    why = "with several replicas: XLA cannot compile code that waits for other replicas"
    if config.step is not None:
        rule = f"off with a train step of your own {why}, as its update does"
        fix = f"{OFF} and put @tf.function(jit_compile=True) on the function that computes your "
        fix += "step's gradient, or choose the strategy one_device."
        findings.add("xla", rule, True, fix)
    elif config.loop == "custom" and config.clip_norm is not None:
        rule = f"off with clip_norm {why}, as the norm of their sum does"
        findings.add("xla", rule, True, f"{OFF}, or leave clip_norm empty.")
    elif config.last_batch == "keep":
        rule = f"off with last_batch keep {why}, as the number of their examples does"
        findings.add("xla", rule, True, f"{OFF}, or choose drop or repeat.")
