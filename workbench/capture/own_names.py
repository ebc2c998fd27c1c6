"""Other names for those names of a captured function that scripts already use."""

from __future__ import annotations

from dataclasses import replace

from workbench.plan.names import DEFINED, bound_names, script_names
from workbench.plan.own_function import SCRIPT_NAMES
from workbench.syntax import own_name, parse, renamed

from .capture import Captured


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
