"""Which fields a strategy has a use for, and what was typed into those that another one has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from workbench import catalog
from workbench.config import RunConfig
from workbench.plan.placement import LOCAL
from workbench.plan.uses import USUAL, uses

if TYPE_CHECKING:
    from workbench.devices import Devices

    from .fields import Field


def row_of(strategy: str) -> catalog.Strategy:
    """Return a strategy's row; of one that is not in the table that of Default."""
    return catalog.STRATEGIES.get(strategy, catalog.STRATEGIES["default"])


def fields_of(strategy: str) -> dict[str, bool]:
    """Return, for each field that stays as usual with some strategies, whether this one has it."""
    row = row_of(strategy)
    return {
        **uses(row),
        "replicas": row.mirrors,
        "auto_shard": row.workers and row.synchronous,
        "clip_norm": row.synchronous,
        "eager": row.synchronous,
        "pipeline": row.synchronous,
    }


def fields_shown(config: RunConfig, devices: Devices) -> dict[str, bool]:
    """Return, for each field that only some configs have a use for, whether this one has."""
    row = row_of(config.strategy)
    own = fields_of(config.strategy)
    synthetic = config.data == "synthetic"
    return {
        **own,
        "replicas": own["replicas"] or (row.tpu and config.tpu != LOCAL),
        "devices": not row.tpu and (bool(devices.gpus) or config.devices is not None),
        "gpu_memory": not row.tpu and bool(devices.gpus),
        "auto_shard": own["auto_shard"] and config.pipeline != "indexed",
        "data_files": config.pipeline == "files",
        "clip_norm": own["clip_norm"] and config.loop == "custom",
        "steps_per_call": not config.eager,
        "data_dir": not synthetic,
        "synthetic_examples": synthetic,
        "synthetic_features": synthetic,
        "synthetic_noise": synthetic,
    }


class SetAside:
    """Keeps what was typed for one strategy while another one, which has no use for it, is chosen.

    What a config asked for stays: only a person's own change of the strategy sets aside.
    """

    def __init__(self, fields: Iterable[Field]) -> None:
        self._fields = {field.name: field for field in fields}
        self._strategy = ""
        self._kept: dict[str, Any] = {}

    def begin(self, strategy: str) -> None:
        """Begin with a config of this strategy."""
        self._strategy = strategy
        self._kept.clear()

    def follow(self, strategy: str) -> None:
        """Put fields that the chosen strategy has no use for as usual, fill those it has again."""
        if strategy == self._strategy:
            return
        self._strategy = strategy
        for name, has in fields_of(strategy).items():
            field = self._fields[name]
            if has and name in self._kept:
                field.control.value = self._kept.pop(name)
            elif not has:
                typed = field.control.value
                field.write(getattr(USUAL, name))
                if field.control.value != typed:
                    self._kept[name] = typed
