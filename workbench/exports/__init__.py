"""The export of runs to CSV, Parquet, TensorBoard and HTML. Names load when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_names

if TYPE_CHECKING:
    from .formats import FORMATS, export_runs

_HOMES = {"FORMATS": ".formats", "export_runs": ".formats"}

__all__ = ["FORMATS", "export_runs"]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
