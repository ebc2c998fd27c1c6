"""The removal of values that this machine would choose by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..devices import Devices
from .reference import Own, Reference, refer

_LEFT_OUT = (
    ("devices", "replicas", "workers", "parameter_servers"),
    ("devices", "replicas"),
    ("devices",),
    ("workers",),
    ("parameter_servers",),
    ("model",),
    ("per_replica_batch_size",),
    ("cross_device_ops",),
)


def without_defaults(
    fields: Mapping[str, Any], own: Own, made: Reference, devices: Devices
) -> dict[str, Any]:
    """Return the fields without values that this machine chooses too; the script stays the same."""
    kept = dict(fields)
    for names in _LEFT_OUT:
        fewer = {name: value for name, value in kept.items() if name not in names}
        here = refer(fewer, own, devices) if fewer != kept else None
        if here is not None and here.text == made.text and here.dropped == made.dropped:
            kept = fewer
    return kept
