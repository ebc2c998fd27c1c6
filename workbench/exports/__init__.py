"""The export of runs to CSV, Parquet, TensorBoard and HTML. Names load when first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .formats import FORMATS, export_runs

_HOMES = {"FORMATS": ".formats", "export_runs": ".formats"}

__all__ = ["FORMATS", "export_runs"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)
