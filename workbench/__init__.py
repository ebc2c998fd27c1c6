"""Plan, run, watch and export distributed TensorFlow training. Names load when first used."""

from typing import TYPE_CHECKING

from .lazy import lazy_names
from .version import __version__

if TYPE_CHECKING:
    from .codegen import render_script
    from .config import RunConfig
    from .plan import make_plan
    from .runs import list_runs, open_run, start_run
    from .widgets import Workbench, follow

_HOMES = {
    "RunConfig": ".config",
    "make_plan": ".plan",
    "render_script": ".codegen",
    "start_run": ".runs",
    "open_run": ".runs",
    "list_runs": ".runs",
    "Workbench": ".widgets",
    "follow": ".widgets",
}

__all__ = [
    "RunConfig",
    "Workbench",
    "__version__",
    "follow",
    "list_runs",
    "make_plan",
    "open_run",
    "render_script",
    "start_run",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
