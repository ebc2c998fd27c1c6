"""The address of a notebook's function in a config; its text is kept with the runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.capture.capture import Captured, capture
from workbench.capture.home import home_of
from workbench.plan.names import DEFINED, bound_names, own_name, parse, renamed, script_names
from workbench.plan.own_function import SCRIPT_NAMES
from workbench.runs.folder.files import runs_root
from workbench.runs.functions import keep_function


def with_own_names(captured: Captured, field: str) -> Captured:
    """Return a captured function in whose text no name has another meaning in scripts.

    A notebook's SEED becomes OWN_SEED, because each script has its own SEED. A text that cannot be
    changed without risk is returned as it is; the plan then names the names.
    """
    bound, of_scripts = bound_names(parse(captured.source)), script_names()
    names = {name: own_name(name) for name in bound if name in of_scripts}
    names = {name: own for name, own in names.items() if bound[name] == DEFINED}
    if captured.function == SCRIPT_NAMES[field]:
        names.pop(captured.function, None)
    if bound.keys() & set(names.values()):
        return captured
    try:
        source = renamed(captured.source, names)
    except ValueError:
        return captured
    return replace(
        captured, function=names.get(captured.function, captured.function), source=source
    )


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
