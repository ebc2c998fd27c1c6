"""Runs: their folders, processes, states and records. Each name is imported at its first use.

The supervisor runs as `python -m workbench.runs.supervise`. So the import of this package must be
fast: it loads neither NumPy nor pandas.
"""

from typing import TYPE_CHECKING

from workbench.lazy import lazy_names

if TYPE_CHECKING:
    from .folder.failure import Failure
    from .folder.files import RunError
    from .listing import archived_runs, list_runs, open_run, restore_run
    from .programs.own_data import inspect_data
    from .records.progress import Progress
    from .records.reader import Block, StepReader
    from .run import Run
    from .start import start_run, start_script
    from .summary import Summary

_HOMES = {
    "Block": ".records.reader",
    "Failure": ".folder.failure",
    "Progress": ".records.progress",
    "Run": ".run",
    "RunError": ".folder.files",
    "StepReader": ".records.reader",
    "Summary": ".summary",
    "archived_runs": ".listing",
    "list_runs": ".listing",
    "inspect_data": ".programs.own_data",
    "open_run": ".listing",
    "restore_run": ".listing",
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
    "Summary",
    "archived_runs",
    "inspect_data",
    "list_runs",
    "open_run",
    "restore_run",
    "start_run",
    "start_script",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
