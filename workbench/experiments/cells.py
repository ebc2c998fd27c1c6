"""The cells of a matrix: each strategy in each loop, planned for this machine, with its result."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Literal

from workbench import catalog
from workbench.config import RunConfig
from workbench.plan import PlanError, make_plan
from workbench.runs.programs.own_data import inspect_data

if TYPE_CHECKING:
    from workbench.devices import Devices
    from workbench.plan.plan import DataFacts

GLOBAL_BATCH_SIZE = 64
REFERENCE = ("one_device", "custom")
"""The strategy and the loop of the cell with which all others are compared."""
Status = Literal["waiting", "running", "pass", "fail", "unavailable", "stopped"]


@dataclass(frozen=True)
class Cell:
    """One strategy in one loop, and its result. None is unknown."""

    strategy: str
    loop: str
    status: Status = "waiting"
    reason: str = ""
    keras: str | None = None
    precision: str = "float32"
    max_loss_difference: float | None = None
    max_weight_difference: float | None = None
    float32_loss_difference: float | None = None
    """Of a run in single precision, in which rounding grows each step, besides one in double."""
    steps_per_second: float | None = None
    run: str | None = None
    """The run's folder."""


def cells_of(
    config: RunConfig, devices: Devices, strategies: Collection[str] = tuple(catalog.STRATEGIES)
) -> list[Cell]:
    """Return all cells, OneDevice's custom loop first. A cell that cannot be run has a reason."""
    facts = inspect_data(config)
    names = sorted(product(catalog.STRATEGIES, catalog.LOOPS), key=lambda cell: cell != REFERENCE)
    wanted = [name for name in names if name[0] in strategies or name == REFERENCE]
    return [_planned(config, devices, facts, *name) for name in wanted]


def config_of(config: RunConfig, devices: Devices, strategy: str, loop: str) -> RunConfig:
    """Return the config of a cell.

    A strategy that mirrors has two virtual replicas on a single GPU: one would have nothing to sum.
    On GPUs the operations are deterministic, because the others round differently each time, so
    that two runs of one script differ too. Without a common step, a worker takes half the global
    batch.
    """
    row = catalog.STRATEGIES[strategy]
    chosen = replace(config, strategy=strategy, loop=loop, name=f"matrix: {strategy}, {loop}")
    if row.mirrors and len(devices.gpus) == 1:
        chosen = replace(chosen, replicas=2)
    if row.synchronous:
        return replace(chosen, deterministic=bool(devices.gpus))
    size = GLOBAL_BATCH_SIZE // 2
    return replace(chosen, global_batch_size=None, per_replica_batch_size=size)


def _planned(
    config: RunConfig, devices: Devices, facts: DataFacts | None, strategy: str, loop: str
) -> Cell:
    cell = Cell(strategy, loop, precision=config.precision)
    try:
        plan = make_plan(config_of(config, devices, strategy, loop), devices, facts)
    except PlanError as error:
        if catalog.STRATEGIES[strategy].tpu and not devices.tpu_chips:
            return replace(cell, status="unavailable", reason="no TPU here")
        return replace(cell, status="unavailable", reason=str(error.problems[0]))
    legacy = plan.legacy_keras
    version = devices.tf_keras_version if legacy else devices.keras_version
    return replace(cell, keras=f"tf-keras {version}" if legacy else version)
