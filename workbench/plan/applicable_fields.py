"""The fields of a config that a strategy uses; the other fields keep their default values."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from workbench.config import USUAL, RunConfig
from workbench.fields import FIELDS

if TYPE_CHECKING:
    from workbench.catalog import Strategy

    from .problems import Findings


def unused_by(strategy: Strategy) -> list[str]:
    """Return the fields that a strategy does not use."""
    return [name for name, row in FIELDS.items() if row.used_by and not row.used_by(strategy)]


def without_unused(config: RunConfig, strategy: Strategy) -> RunConfig:
    """Return the config with default values in the fields that the strategy does not use."""
    usual = {name: getattr(USUAL, name) for name in unused_by(strategy)}
    return dataclasses.replace(config, **usual)


def check_used(findings: Findings, config: RunConfig, strategy: Strategy) -> None:
    """Note each field that has a value although the strategy does not use it."""
    wrong = {problem.field for problem in findings.problems}
    for name in unused_by(strategy):
        value, usual = getattr(config, name), getattr(USUAL, name)
        if not value or value == usual or name in wrong:
            continue
        if usual is None or usual is False:
            usual = "empty" if usual is None else "off"
            fix = f"Leave it {usual}"
        else:
            fix = f"Set it to {usual}"
        why = strategy.uncompiled if name == "xla" else "which does not use it"
        rule = f"{usual} with the strategy {config.strategy}, {why}"
        findings.add(name, rule, value, f"{fix}, or choose another strategy.")
