"""Replay bundles: one zip file with which a run can be repeated elsewhere and compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_names

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

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
