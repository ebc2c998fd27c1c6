"""A function of a notebook as a config names it: by its text, which is kept beside the runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench.runs.folder.files import runs_root
from workbench.runs.folder.functions import keep_function

from .capture import capture
from .home import home_of


def address_of(function: Callable[..., Any], field: str, runs_dir: str | Path | None = None) -> str:
    """Return what a config's field names a function by, as it is now.

    A function of the notebook is written down with all that it uses: `file.py:function`. One that
    was imported stays where it is: `module:function`.

    Args:
        function: makes the model or the data.
        field: the field of the config, `model` or `data`.
        runs_dir: the folder of runs, where its text is kept; None: see `start_run`.

    Raises:
        ConfigError: with everything that cannot be taken along, and what to do instead.
        RunError: the folder of runs cannot be written.
    """
    home = home_of(function, field)
    if home.address is not None:
        return home.address
    captured = capture(function, field)
    return keep_function(captured.source, captured.function, runs_root(runs_dir))
