"""The fields that a strategy uses, and the text typed into fields that only others use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from workbench import catalog
from workbench.config import RunConfig
from workbench.plan.applicable_fields import USUAL, applicable_fields
from workbench.plan.launching import OF_JOBS, USES
from workbench.plan.own_data import is_own
from workbench.plan.placement import LOCAL

if TYPE_CHECKING:
    from workbench.devices import Devices

    from .fields import Field


def row_of(strategy: str) -> catalog.Strategy:
    """Return a strategy's row, or the row of Default if the strategy is not in the table."""
    return catalog.STRATEGIES.get(strategy, catalog.STRATEGIES["default"])


def fields_of(strategy: str) -> dict[str, bool]:
    """Return, for each field that some strategies do not use, whether this strategy uses it."""
    row = row_of(strategy)
    return {
        **applicable_fields(row),
        "replicas": row.mirrors,
        "auto_shard": row.workers and row.synchronous,
        "clip_norm": row.synchronous,
        "eager": row.synchronous,
        "pipeline": row.synchronous,
    }


def fields_shown(config: RunConfig, devices: Devices) -> dict[str, bool]:
    """Return, for each field that only some configs use, whether this config uses it."""
    row = row_of(config.strategy)
    own = fields_of(config.strategy)
    synthetic = config.data == "synthetic"
    of_launcher = USES.get(config.launcher, ())
    own_optimizer = is_own(config.model or "") and config.optimizer in (None, catalog.COMPILED)
    return {
        **own,
        "replicas": own["replicas"] or (row.tpu and config.tpu != LOCAL),
        "devices": not row.tpu and (bool(devices.gpus) or config.devices is not None),
        "gpu_memory": not row.tpu and (bool(devices.gpus) or bool(config.gpus_per_task)),
        **{name: name in of_launcher for name in OF_JOBS},
        "auto_shard": own["auto_shard"] and config.pipeline != "indexed",
        "data_files": config.pipeline == "files",
        "clip_norm": own["clip_norm"] and config.loop == "custom",
        "step": config.loop == "custom",
        "steps_per_call": not config.eager,
        "xla": own["xla"] and not config.eager,
        "data_dir": not synthetic and not is_own(config.data),
        "learning_rate": not own_optimizer,
        "learning_rate_scaling": own["learning_rate_scaling"] and not own_optimizer,
        "synthetic_examples": synthetic,
        "synthetic_features": synthetic,
        "synthetic_noise": synthetic,
    }


class StashedFields:
    """A store for typed values that the chosen strategy or launcher does not use.

    The values of a new config stay in the form. Values move into the store only when the person
    changes the strategy or the launcher.
    """

    def __init__(self, fields: Iterable[Field]) -> None:
        self._fields = {field.name: field for field in fields}
        self._chosen = ("", "")
        self._kept: dict[str, Any] = {}

    def begin(self, strategy: str, launcher: str) -> None:
        """Begin with a config of this strategy and launcher, and with an empty store."""
        self._chosen = (strategy, launcher)
        self._kept.clear()

    def follow(self, strategy: str, launcher: str) -> None:
        """Reset fields that the new choice does not use, and restore fields that it uses again."""
        before, self._chosen = self._chosen, (strategy, launcher)
        if strategy != before[0]:
            self._follow(fields_of(strategy))
        if launcher != before[1]:
            self._follow({name: name in USES.get(launcher, ()) for name in OF_JOBS})

    def _follow(self, has_use: Mapping[str, bool]) -> None:
        for name, has in has_use.items():
            field = self._fields[name]
            if has and name in self._kept:
                field.control.value = self._kept.pop(name)
            elif not has:
                typed = field.control.value
                field.write(getattr(USUAL, name))
                if field.control.value != typed:
                    self._kept[name] = typed
