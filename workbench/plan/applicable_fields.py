"""Which fields of a config a strategy has a use for; the others stay as usual."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from workbench.config import RunConfig

if TYPE_CHECKING:
    from workbench.catalog import Strategy

    from .problems import Findings

USUAL = RunConfig()


def applicable_fields(strategy: Strategy) -> dict[str, bool]:
    """Return, for each field that stays as usual with some strategies, whether this one has it."""
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
        "tpu": strategy.tpu,
        "xla": not strategy.uncompiled,
    }


def without_unused(config: RunConfig, strategy: Strategy) -> RunConfig:
    """Return the config with what the strategy has no use for as usual."""
    unused = [name for name, used in applicable_fields(strategy).items() if not used]
    return dataclasses.replace(config, **{name: getattr(USUAL, name) for name in unused})


def check_used(findings: Findings, config: RunConfig, strategy: Strategy) -> None:
    """Note what is asked of a strategy that has no use for it."""
    wrong = {problem.field for problem in findings.problems}
    for name, used in applicable_fields(strategy).items():
        value, usual = getattr(config, name), getattr(USUAL, name)
        if used or not value or value == usual or name in wrong:
            continue
        words = "empty" if usual is None else "off" if usual is False else ""
        usually, fix = (words, f"Leave it {words}") if words else (usual, f"Set it to {usual}")
        why = strategy.uncompiled if name == "xla" else "which has no use for it"
        rule = f"{usually} with the strategy {config.strategy}, {why}"
        findings.add(name, rule, value, f"{fix}, or choose another strategy.")
