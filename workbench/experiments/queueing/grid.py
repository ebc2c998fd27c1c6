"""The runs of a comparison: every combination of varied fields, planned for this machine."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

from workbench import catalog
from workbench.codegen import render_script
from workbench.config import ConfigError, Problem, RunConfig
from workbench.fields import BATCH_SIZES
from workbench.plan import PlanError, make_plan
from workbench.plan.applicable_fields import without_unused
from workbench.plan.checks import wrong_by_itself
from workbench.runs.programs.own_data import inspect_data

if TYPE_CHECKING:
    from workbench.devices import Devices
    from workbench.plan import Plan
    from workbench.plan.plan import DataFacts

AXES = (
    *("strategy", "loop", "replicas", "workers", "global_batch_size", "per_replica_batch_size"),
    *("precision", "xla", "steps_per_call", "cross_device_ops", "pipeline"),
)
"""Fields of a config that may vary. Data, model and seed may not vary, because the runs would train
something else."""

BatchSize = Literal["global_batch_size", "per_replica_batch_size"]


@dataclass(frozen=True)
class Candidate:
    """One way to train, repeated as often as the others."""

    label: str
    """The name that distinguishes it from the others, such as `Mirrored x 2, fit`."""
    config: RunConfig
    reason: str = ""
    """Why it cannot be run here; empty if it can."""

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {"label": self.label, "config": self.config.to_json(), "reason": self.reason}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Candidate:
        """Read the values that `to_json` returned."""
        config = RunConfig.from_json(values["config"])
        return cls(str(values["label"]), config, str(values["reason"]))


def candidates(
    config: RunConfig,
    axes: Mapping[str, Sequence[Any]],
    devices: Devices,
    shared: BatchSize = "global_batch_size",
) -> list[Candidate]:
    """Return every combination in order; combinations with the same script are returned once.

    Fields that do not vary are as in `config`. Unless a batch size varies, all candidates share one
    of the batch sizes that `config` is planned with: with `shared` as it is, the global one, so
    that they do the same work. If a strategy does not use a field, the field keeps its usual value.
    If a strategy's workers are asynchronous, each worker gets its share of the global batch.

    Raises:
        ConfigError: a field may not vary, has no values or a value that no machine can run, or both
            batch sizes vary.
        PlanError: no combination can be planned; with the problems of all.
    """
    _check(config, axes)
    facts = inspect_data(config)
    combinations = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]
    config = _with_batch(config, combinations, devices, facts, shared)
    found: dict[object, Candidate] = {}
    problems: list[Problem] = []
    for varied in combinations:
        fitting = _fitting(replace(config, **varied))
        try:
            plan = make_plan(fitting, devices, facts)
        except PlanError as error:
            problems += error.problems
            found[str(varied)] = _refused(fitting, varied, error)
        else:
            found.setdefault(render_script(plan), Candidate(_label(plan, axes), fitting))
    if all(candidate.reason for candidate in found.values()):
        raise PlanError(dict.fromkeys(problems))
    return list(found.values())


def _check(config: RunConfig, axes: Mapping[str, Sequence[Any]]) -> None:
    problems = [
        Problem(name, f"a field that can be varied ({', '.join(AXES)})", name, "Leave it out.")
        for name in axes
        if name not in AXES
    ]
    problems += [
        Problem(name, "given at least one value", "none", "Give it a value.")
        for name, values in axes.items()
        if not values
    ]
    if axes.keys() >= set(BATCH_SIZES):
        rule = "the only batch size that is varied, because it sets per_replica_batch_size"
        fix = "Give several values to one of the two only."
        problems.append(Problem("global_batch_size", rule, "both", fix))
    if not problems:
        problems = [
            problem
            for name, values in axes.items()
            for value in values
            for problem in wrong_by_itself(_with(config, name, value))
            if problem.field == name
        ]
    if problems:
        raise ConfigError(problems)


def _with_batch(
    config: RunConfig,
    combinations: Sequence[Mapping[str, Any]],
    devices: Devices,
    facts: DataFacts | None,
    shared: BatchSize,
) -> RunConfig:
    """Return the config with the one batch size that all share; without any, if one varies.

    If this machine cannot plan the config itself, the first combination that it can plan decides.
    """
    free = replace(config, global_batch_size=None, per_replica_batch_size=None)
    if combinations[0].keys() & BATCH_SIZES:
        return free
    if given := getattr(config, shared):
        return _with(free, shared, given)
    for each in (config, *(_fitting(replace(config, **varied)) for varied in combinations)):
        with contextlib.suppress(PlanError):
            plan = make_plan(each, devices, facts)
            size = plan.per_replica_batch_size
            if shared == "global_batch_size":
                size = plan.global_batch_size or size * plan.workers
            return _with(free, shared, size)
    return config


def _with(config: RunConfig, name: str, value: Any) -> RunConfig:
    values = {name: value}
    return replace(config, **values)


def _refused(config: RunConfig, varied: Mapping[str, Any], error: PlanError) -> Candidate:
    label = ", ".join(_named(name, value) for name, value in varied.items()) or config.strategy
    return Candidate(label, config, "; ".join(map(str, error.problems)))


def _fitting(config: RunConfig) -> RunConfig:
    """Return the config without fields that its strategy does not use."""
    strategy = catalog.STRATEGIES.get(config.strategy)
    if strategy is None:
        return config
    config = without_unused(config, strategy)
    if not (strategy.mirrors or strategy.workers or strategy.tpu):
        config = replace(config, replicas=None)
    if not strategy.synchronous and config.global_batch_size:
        share = max(1, config.global_batch_size // (config.workers or 2))
        config = replace(config, global_batch_size=None, per_replica_batch_size=share)
    return config


def _label(plan: Plan, axes: Mapping[str, Sequence[Any]]) -> str:
    """Return strategy and replicas, and the values of all other varied fields."""
    many = plan.num_replicas_in_sync if plan.synchronous else plan.workers
    parts = [plan.strategy_label + (f" x {many}" if many > 1 else "")]
    if plan.workers > 1 and all(len(axes.get(name, ())) > 1 for name in ("replicas", "workers")):
        parts.append(f"{plan.workers} workers")  # several may have as many replicas
    for name, values in axes.items():
        if len(values) > 1 and name not in _IN_EVERY_LABEL:
            parts.append(_TEXTS[name](plan) if name in _TEXTS else getattr(plan.config, name))
    return ", ".join(parts)


def _named(name: str, value: Any) -> str:
    """Return one varied value of a config that cannot be planned."""
    return _XLA[value] if name == "xla" else str(value)


_XLA = {True: "XLA on", False: "XLA off"}
_IN_EVERY_LABEL = ("strategy", "replicas", "workers")
_TEXTS: Mapping[str, Callable[[Plan], str]] = {
    "global_batch_size": lambda plan: f"batch {plan.examples_per_step:,}",
    "per_replica_batch_size": lambda plan: f"{plan.per_replica_batch_size:,} per replica",
    "xla": lambda plan: _XLA[plan.config.xla or plan.on_tpu],  # TPUs always use XLA
    "steps_per_call": lambda plan: f"steps per call: {plan.steps_per_call or 'auto'}",
    "cross_device_ops": lambda plan: f"ops {plan.cross_device_ops}",
    "pipeline": lambda plan: f"pipeline {plan.pipeline}",
}
