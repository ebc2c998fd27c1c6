"""The address of a notebook's function in a config; the function's text is kept with the runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench.runs.folder.files import runs_root
from workbench.runs.functions import keep_function

from .capture import capture
from .home import home_of
from .own_names import with_own_names


def address_of(function: Callable[..., Any], field: str, runs_dir: str | Path | None = None) -> str:
    """Return the address of a function, in its present state, for a field of a config.

    A function of the notebook is written to a file with everything that it uses:
    `file.py:function`. An imported function stays in its module: `module:function`.

    Args:
        function: a function for the model, the data or the train step.
        field: the field of the config, `model`, `data` or `step`.
        runs_dir: the folder of runs, which keeps the function's text; None: see `start_run`.

    Raises:
        ConfigError: the function uses values that cannot be captured; each has its fix.
        RunError: the folder of runs cannot be written.
    """
    home = home_of(function, field)
    if home.address is not None:
        return home.address
    captured = with_own_names(capture(function, field), field)
    return keep_function(captured.source, captured.function, runs_root(runs_dir))
