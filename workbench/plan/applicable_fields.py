"""The fields of a config that a strategy uses; the other fields keep their default values."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from workbench.config import RunConfig

if TYPE_CHECKING:
    from workbench.catalog import Strategy

    from .problems import Findings

USUAL = RunConfig()


def applicable_fields(strategy: Strategy) -> dict[str, bool]:
    """Return the fields that some strategies do not use, each with whether this strategy does."""
    synchronous_workers = strategy.workers and strategy.synchronous
    return {
        "workers": strategy.workers,
        "parameter_servers": not strategy.synchronous,
        "evaluator": not strategy.synchronous,
        "rendezvous_seconds": strategy.workers,
        "communication": synchronous_workers,
        "bytes_per_pack": synchronous_workers,
        "cross_device_ops": strategy.reduces,
        "learning_rate_scaling": strategy.synchronous,
        "deterministic": strategy.synchronous,
        "tpu": strategy.tpu,
        "xla": not strategy.uncompiled,
    }


def without_unused(config: RunConfig, strategy: Strategy) -> RunConfig:
    """Return the config with default values in the fields that the strategy does not use."""
    unused = [name for name, used in applicable_fields(strategy).items() if not used]
    return dataclasses.replace(config, **{name: getattr(USUAL, name) for name in unused})


def check_used(findings: Findings, config: RunConfig, strategy: Strategy) -> None:
    """Note each field that has a value although the strategy does not use it."""
    wrong = {problem.field for problem in findings.problems}
    for name, used in applicable_fields(strategy).items():
        value, usual = getattr(config, name), getattr(USUAL, name)
        if used or not value or value == usual or name in wrong:
            continue
        if usual is None or usual is False:
            usual = "empty" if usual is None else "off"
            fix = f"Leave it {usual}"
        else:
            fix = f"Set it to {usual}"
        why = strategy.uncompiled if name == "xla" else "which does not use it"
        rule = f"{usual} with the strategy {config.strategy}, {why}"
        findings.add(name, rule, value, f"{fix}, or choose another strategy.")
