"""Which room may import which: the house stays one line from config to views."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "workbench"
DEVICES_CHILD = "devices/probe.py"

# Rooms of ours that a room may import.
ROOMS: dict[str, set[str]] = {
    "config": set(),
    "catalog": {"config"},
    "field_help": set(),
    "syntax": set(),
    "capture": {"config", "syntax"},
    "devices": set(),
    "hosts": set(),
    "environments": {"devices"},
    "usage": {"devices"},
    "units": set(),
    "meters": {"units", "usage"},
    "plan": {"config", "catalog", "devices", "syntax"},
    "engine": set(),
    "codegen": {"config", "catalog", "plan", "syntax"},
    "own_data": {"config", "plan", "runs"},
    "own_function": {"capture", "runs"},
    "inspection": {"config", "plan", "codegen", "runs"},
    "scripts": {"config", "catalog", "devices", "plan", "codegen", "syntax"},
    "points": set(),
    "interval": set(),
    "launchers": {"config", "flock"},
    "flock": set(),
    "forking": {"flock"},
    "runs": {
        *("config", "catalog", "devices", "plan", "codegen", "points", "charts"),
        *("flock", "forking", "hosts", "launchers", "own_data"),
    },
    "charts": {"points"},
    "feed": {"catalog", "plan", "points", "runs"},
    "experiments": {
        *(
            "config",
            "catalog",
            "charts",
            "codegen",
            "devices",
            "flock",
            "interval",
            "own_data",
            "plan",
        ),
        "runs",
    },
    "place": {"runs"},
    "tf_config": {"config"},
    "exports": {"config", "place", "report", "runs"},
    "report": {
        *("catalog", "charts", "config", "devices", "place", "plan", "points", "runs", "units"),
        "__version__",
    },
    "bundle": {"config", "plan", "codegen", "runs", "experiments", "place", "__version__"},
    "verdict": {"config", "devices", "interval", "plan", "runs", "charts"},
    "lab": {"runs"},
    "widgets": {
        *("config", "catalog", "field_help", "devices", "usage", "plan", "codegen"),
        *(
            "capture",
            "bundle",
            "environments",
            "exports",
            "forking",
            "inspection",
            "launchers",
            "own_data",
            "own_function",
            "place",
            "points",
            "runs",
            "charts",
            "feed",
            "lab",
            "experiments",
            "hosts",
            "scripts",
            "meters",
            "units",
            "verdict",
        ),
    },
    "server": {
        *("config", "codegen", "devices", "usage", "meters", "plan", "points", "runs", "feed"),
    },
    "cli": {
        *("config", "catalog", "field_help", "devices", "usage", "plan", "codegen"),
        *("environments", "inspection", "own_data", "runs", "charts", "lab"),
        *(
            "experiments",
            "exports",
            "bundle",
            "report",
            "scripts",
            "tf_config",
            "verdict",
            "__version__",
        ),
    },
    "__main__": {"cli"},
    "__init__": {"config", "codegen", "plan", "runs", "widgets", "devices"},
}
# Other people's packages that a room may import; all else is the standard library.
PACKAGES: dict[str, set[str]] = {
    "engine": {"tensorflow", "numpy", "h5py"},
    "experiments": {"numpy", "pandas", "plotly"},
    "bundle": {"numpy", "pandas"},
    "report": {"numpy", "pandas"},
    "exports": {"numpy", "pandas", "tensorboard"},
    "devices": {"psutil", "pynvml"},
    "usage": {"psutil", "pynvml"},
    "launchers": {"ray", "yaml"},
    "runs": {"numpy", "pandas", "pydantic"},
    "points": {"numpy"},
    "feed": {"numpy"},
    "server": {"numpy", "jupyter_core", "jupyter_server", "tornado"},
    "verdict": {"numpy", "plotly"},
    "charts": {"numpy", "pandas", "plotly", "matplotlib"},
    "widgets": {
        *("numpy", "pandas", "plotly", "matplotlib"),
        *("ipywidgets", "anywidget", "IPython", "traitlets"),
    },
}


def imported(path: Path) -> Iterator[str]:
    """Every module that a file imports anywhere in it, by its full name."""
    package = ("workbench", *path.relative_to(PACKAGE).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level:
                base = package[: len(package) - node.level + 1]
                module = ".".join([*base, *filter(None, [module])])
            if module == "workbench":
                yield from (f"workbench.{alias.name}" for alias in node.names)
            else:
                yield module


def faults(path: Path) -> Iterator[str]:
    """What a file imports against the two tables."""
    where = path.relative_to(PACKAGE)
    room = where.with_suffix("").parts[0]
    for module in imported(path):
        top, *rest = module.split(".")
        if top == "workbench":
            if rest and rest[0] != room and rest[0] not in ROOMS[room]:
                yield f"{where}: {room} may not import {module}"
        elif top == "tensorflow" and where.as_posix() == DEVICES_CHILD:
            continue
        elif top not in sys.stdlib_module_names and top not in PACKAGES.get(room, set()):
            yield f"{where}: {room} may not import {top}"


def test_every_room_imports_only_what_it_may() -> None:
    assert [fault for path in sorted(PACKAGE.rglob("*.py")) for fault in faults(path)] == []


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        (
            "workbench",
            "tensorflow keras pandas numpy plotly ipywidgets IPython matplotlib psutil pynvml",
        ),
        (
            "workbench.runs.supervise.supervisor",
            "tensorflow keras pandas numpy plotly ipywidgets psutil",
        ),
        ("workbench.cli", "tensorflow keras pandas plotly ipywidgets IPython matplotlib"),
        ("workbench.widgets.workbench", "tensorflow keras"),
        ("workbench.server.handlers", "tensorflow keras plotly ipywidgets IPython matplotlib"),
    ],
)
def test_an_import_loads_nothing_heavy(module: str, absent: str) -> None:
    code = f"import {module}, sys, threading; print(*sys.modules); print(threading.active_count())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded, threads = done.stdout.splitlines()
    assert set(absent.split()) & set(loaded.split()) == set()
    assert threads == "1"
