"""Replay bundles: one zip file with which a run can be repeated elsewhere and compared."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .contents import Bundle
    from .reading import read_bundle
    from .replaying import Replay, check_replay
    from .writing import write_bundle

_HOMES = {
    "Bundle": ".contents",
    "Replay": ".replaying",
    "check_replay": ".replaying",
    "read_bundle": ".reading",
    "write_bundle": ".writing",
}

__all__ = ["Bundle", "Replay", "check_replay", "read_bundle", "write_bundle"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)
