"""The fields that a strategy uses, and the text typed into fields that only others use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from workbench import catalog
from workbench.config import USUAL, RunConfig
from workbench.fields import FIELDS, LOCAL, OF_LAUNCHERS

if TYPE_CHECKING:
    from workbench.devices import Devices

    from .fields import Field


def row_of(strategy: str) -> catalog.Strategy:
    """Return a strategy's row, or the row of Default if the strategy is not in the table."""
    return catalog.STRATEGIES.get(strategy, catalog.STRATEGIES["default"])


def fields_of(strategy: str) -> dict[str, bool]:
    """Return, for each field that some strategies do not use, whether this strategy uses it."""
    needs = {name: each.shown_by or each.used_by for name, each in FIELDS.items()}
    return {name: need(row_of(strategy)) for name, need in needs.items() if need}


def fields_shown(config: RunConfig, devices: Devices) -> dict[str, bool]:
    """Return, for each field, whether this config uses it."""
    on_tpu, gpus = row_of(config.strategy).tpu, bool(devices.gpus)
    shown = {
        name: row.counts(config) and config.launcher in (row.launchers or [config.launcher])
        for name, row in FIELDS.items()
    }
    for name, used in fields_of(config.strategy).items():
        shown[name] &= used
    shown["replicas"] |= on_tpu and config.tpu != LOCAL
    shown["devices"] = not on_tpu and (gpus or config.devices is not None)
    shown["gpu_memory"] = not on_tpu and (gpus or bool(config.gpus_per_task))
    return shown


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
            self._follow({name: launcher in FIELDS[name].launchers for name in OF_LAUNCHERS})

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
