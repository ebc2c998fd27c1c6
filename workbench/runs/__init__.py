"""Runs: their folders, processes, states and records. Names load when first used.

The supervisor runs as `python -m workbench.runs.supervisor`, so importing this package must cost
nothing: no NumPy, no pandas.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .directory import RunError
    from .listing import list_runs, open_run
    from .outcome import Failure
    from .progress import Progress
    from .reader import Block, StepReader
    from .restore import archived_runs, restore_run
    from .run import Run
    from .start import start_edited, start_run, start_script

_HOMES = {
    "Block": ".reader",
    "Failure": ".outcome",
    "Progress": ".progress",
    "Run": ".run",
    "RunError": ".directory",
    "StepReader": ".reader",
    "archived_runs": ".restore",
    "list_runs": ".listing",
    "open_run": ".listing",
    "restore_run": ".restore",
    "start_edited": ".start",
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
    "archived_runs",
    "list_runs",
    "open_run",
    "restore_run",
    "start_edited",
    "start_run",
    "start_script",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
