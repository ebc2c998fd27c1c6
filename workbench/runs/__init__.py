"""Runs: their folders, processes, states and records. Names load when first used.

The supervisor runs as `python -m workbench.runs.supervisor`, so importing this package must cost
nothing: no NumPy, no pandas.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .directory import RunError
    from .progress import Progress
    from .reader import Block, StepReader
    from .run import Failure, Run, list_runs, open_run
    from .start import start_run, start_script
    from .warm import WarmStart

_HOMES = {
    "Block": ".reader",
    "Failure": ".run",
    "Progress": ".progress",
    "Run": ".run",
    "RunError": ".directory",
    "StepReader": ".reader",
    "WarmStart": ".warm",
    "list_runs": ".run",
    "open_run": ".run",
    "start_run": ".start",
    "start_script": ".start",
}

__all__ = [
    "Block",
    "Failure",
    "Progress",
    "Run",
    "RunError",
    "StepReader",
    "WarmStart",
    "list_runs",
    "open_run",
    "start_run",
    "start_script",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
