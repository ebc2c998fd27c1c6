"""The workbench's script for a config, on the machine that another script was made for."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from workbench.plan.applicable_fields import without_unused

from .. import catalog
from ..codegen import render_script
from ..config import ConfigError, RunConfig
from ..devices import Devices, Gpu
from ..plan import Plan, make_plan
from ..plan.own_data import DataFacts
from ..plan.own_function import OwnFunction
from ..plan.plan import STACK_BYTES
from .parts import DEFINITION, Parts, split_made
from .values import UnreadError, constant, number, replicas

UNKNOWN = "unknown"


@dataclass(frozen=True)
class Own:
    """The user's own functions of a script, by field and without their text, and their data."""

    functions: dict[str, OwnFunction]
    facts: DataFacts | None


@dataclass(frozen=True)
class Reference:
    """A config, its plan, and the script of the plan."""

    config: RunConfig
    plan: Plan
    text: str
    dropped: tuple[str, ...]
    """Fields whose values no plan can have; here they have default values."""

    @cached_property
    def parts(self) -> Parts:
        """The script, split into its parts."""
        return split_made(self.text)


def address(function: OwnFunction) -> str:
    """Return an address for a config; for a function in the script itself it names no file."""
    return f"{function.module or 'script'}:{function.function}"


def machine(parts: Parts, strategy: str) -> Devices:
    """Return the devices that the script needs, as far as its constants show."""
    try:
        names = [name for name in constant(parts, "DEVICES") if isinstance(name, str)]
    except (UnreadError, TypeError):
        names = []
    gpus = tuple(Gpu(name, None, None, None) for name in names if name.startswith("GPU"))
    row = catalog.STRATEGIES.get(strategy)
    return Devices(
        cpu_model=None,
        cpu_cores=1,
        memory_bytes=None,
        gpus=gpus,
        tpu_chips=replicas(parts) if row and row.tpu else 0,
        tpu_kind=None,
        interpreter=UNKNOWN,
        python_version=UNKNOWN,
        tensorflow_version=UNKNOWN,
        keras_version=UNKNOWN,
        tf_keras_version=UNKNOWN,
        problems=(),
    )


def facts_of(parts: Parts) -> DataFacts | None:
    """Return the facts that constants give about the user's own data; None for other data."""
    if parts.definition("check_data") is None:
        return None
    train, test = number(parts, "NUM_TRAIN_EXAMPLES"), number(parts, "NUM_TEST_EXAMPLES")
    stack, in_all = number(parts, "STEPS_PER_STACK"), number(parts, "GLOBAL_BATCH_SIZE")
    by_file = parts.assignment("AUTO_SHARD")
    return DataFacts(
        kind="arrays" if (DEFINITION, "as_arrays") in parts.by_key else "dataset",
        train_examples=train or 1,
        test_examples=test or 1,
        example="",
        example_bytes=STACK_BYTES // max(1, (in_all or 1) * (stack or 1)),
        reads_files=by_file is not None and by_file.code.endswith(".FILE"),
    )


def refer(fields: dict[str, Any], own: Own, devices: Devices) -> Reference | None:
    """Plan a config for a machine and render it.

    Fields that cannot be planned keep their default values. None if no plan is possible.
    """
    fields = dict(fields)
    dropped: list[str] = []
    for _ in range(len(fields) + 1):
        try:
            return _reference(fields, own, devices, tuple(dropped))
        except ConfigError as error:
            wrong = {problem.field for problem in error.problems} & fields.keys()
            if not wrong:
                return None
            dropped += sorted(wrong)
            fields = {name: value for name, value in fields.items() if name not in wrong}
    return None


def plan_strictly(
    fields: Mapping[str, Any], own: Own, devices: Devices, addresses: Mapping[str, str]
) -> Plan:
    """Plan a config for a machine, with the user's functions at these addresses.

    Raises:
        PlanError: with every problem found.
    """
    plan = _planned(_asked(fields, own), own, devices)
    config = dataclasses.replace(plan.config, **dict[str, Any](addresses))
    return dataclasses.replace(plan, config=config)


def _reference(
    fields: Mapping[str, Any], own: Own, devices: Devices, dropped: tuple[str, ...]
) -> Reference:
    asked = _asked(fields, own)
    # The data folder may be missing on this machine, which does not matter to the script.
    plan = _planned(dataclasses.replace(asked, data_dir=None), own, devices)
    plan = dataclasses.replace(plan, config=asked)
    return Reference(asked, plan, render_script(plan), dropped)


def _asked(fields: Mapping[str, Any], own: Own) -> RunConfig:
    addresses: dict[str, Any] = {name: address(each) for name, each in own.functions.items()}
    asked = RunConfig(**fields, **addresses)
    return without_unused(asked, catalog.STRATEGIES[asked.strategy])


def _planned(config: RunConfig, own: Own, devices: Devices) -> Plan:
    plan = make_plan(config, devices, own.facts)
    functions: dict[str, Any] = {f"own_{field}": each for field, each in own.functions.items()}
    return dataclasses.replace(plan, **functions)
