"""Tests of the imports between rooms: the project stays one line from config to views."""

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "workbench"
DEVICES_CHILD = "devices/probe.py"

# The rooms of this project that a room may import.
ROOMS: dict[str, set[str]] = {
    "config": {"fields"},
    "version": set(),
    "catalog": {"config", "fields"},
    "fields": set(),
    "schema": {"catalog", "config", "fields"},
    "capture": {"config", "plan", "runs"},
    "devices": set(),
    "hosts": set(),
    "environments": {"devices"},
    "units": set(),
    "plan": {"config", "fields", "catalog", "devices", "lazy", "units"},
    "engine": set(),
    "observe": set(),
    "codegen": {"config", "fields", "catalog", "plan"},
    "scripts": {"config", "fields", "catalog", "devices", "plan", "codegen"},
    "points": set(),
    "interval": set(),
    "launchers": {"config", "flock"},
    "flock": set(),
    "lazy": set(),
    "forking": {"flock"},
    "runs": {
        *("config", "fields", "catalog", "devices", "plan", "codegen", "points", "charts"),
        *("flock", "forking", "hosts", "launchers", "lazy", "scripts"),
    },
    "charts": {"points"},
    "pictures": {"charts", "experiments", "runs", "units"},
    "feed": {"catalog", "devices", "plan", "points", "runs", "units"},
    "experiments": {
        *("config", "catalog", "charts", "codegen", "devices", "fields", "flock", "interval"),
        *("lazy", "plan", "runs", "units"),
    },
    "errors": {"config", "fields", "report", "runs"},
    "free_path": {"runs"},
    "tf_config": {"config"},
    "exports": {"config", "lazy", "free_path", "report", "runs"},
    "report": {
        *("catalog", "charts", "config", "devices", "free_path", "plan", "points", "runs", "units"),
        *("experiments", "fields", "lazy", "pictures", "verdict", "version"),
    },
    "bundle": {
        *("config", "plan", "codegen", "runs", "experiments", "lazy", "free_path", "version"),
    },
    "verdict": {"config", "devices", "interval", "plan", "runs", "units"},
    "lab": {"runs"},
    "widgets": {
        *("config", "catalog", "fields", "devices", "plan", "codegen", "capture", "bundle"),
        *(
            "environments",
            "exports",
            "forking",
            "launchers",
            "free_path",
            "points",
            "runs",
            "charts",
        ),
        *("feed", "lab", "experiments", "hosts", "pictures", "report", "scripts", "units"),
        *("verdict",),
    },
    "server": {
        *("config", "codegen", "devices", "plan", "points", "runs", "feed", "errors", "report"),
    },
    "cli": {
        *("config", "catalog", "fields", "devices", "plan", "codegen", "environments"),
        *("runs", "charts", "errors", "lab", "experiments", "exports", "bundle", "report"),
        *("schema", "scripts", "hosts", "tf_config", "units", "verdict", "version"),
    },
    "__main__": {"cli"},
    "__init__": {"config", "codegen", "lazy", "plan", "runs", "widgets", "devices", "version"},
}
# The inner rooms of a room, the lowest first: each may import earlier rooms, but no later rooms.
INNER: dict[str, tuple[set[str], ...]] = {
    "runs": (
        *({"folder"}, {"processes"}, {"copying"}, {"supervise"}, {"records"}),
        {"programs"},
    ),
    "widgets": (
        *({"static"}, {"kernel"}, {"parts"}, {"pictures"}, {"form"}),
        {"run", "runs", "comparison", "search", "script"},
    ),
}
# The third-party packages that a room may import; all other imports are the standard library.
PACKAGES: dict[str, set[str]] = {
    "engine": {"tensorflow", "numpy", "h5py", "workbench_observe"},
    "observe": {"tensorflow", "numpy", "keras", "tf_keras"},
    "experiments": {"numpy", "pandas"},
    "bundle": {"numpy", "pandas"},
    "report": {"numpy", "pandas"},
    "exports": {"numpy", "pandas", "tensorboard"},
    "devices": {"psutil", "pynvml"},
    "hosts": {"jupyter_core"},
    "launchers": {"ray", "yaml"},
    "runs": {"numpy", "pandas"},
    "runs/folder": set(),
    "runs/processes": set(),
    "runs/copying": set(),
    "runs/supervise": set(),
    "runs/programs": {"numpy", "pydantic"},
    "points": {"numpy"},
    "feed": {"numpy"},
    "server": {"numpy", "jupyter_core", "jupyter_server", "tornado"},
    "verdict": {"numpy"},
    "charts": {"numpy", "pandas", "plotly", "matplotlib"},
    "widgets": {
        *("numpy", "pandas", "plotly", "matplotlib", "PIL"),
        *("ipywidgets", "anywidget", "IPython", "traitlets", "jupyter_core", "zmq"),
    },
}
MOST_FILES = 15
"""The largest number of files in a folder that a reader can take in at a glance."""


def imported(path: Path) -> Iterator[str]:
    """Yield every module that a file of the package imports; see `imported_names`."""
    package = ("workbench", *path.relative_to(PACKAGE).parts[:-1])
    return imported_names(path.read_text(encoding="utf-8"), package)


def imported_names(text: str, package: tuple[str, ...]) -> Iterator[str]:
    """Yield the full name of every module that a text imports; of our modules, each name."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level:
                base = package[: len(package) - node.level + 1]
                module = ".".join([*base, *filter(None, [module])])
            if module.partition(".")[0] in ("workbench", "tests"):
                yield from (f"{module}.{alias.name}" for alias in node.names)
            else:
                yield module


def packages_of(where: Path) -> set[str]:
    """Return the packages that a file may import, from the entry of its inner room or its room."""
    room = where.with_suffix("").parts[0]
    inner = "/".join(where.parts[:2])
    return PACKAGES.get(inner, PACKAGES.get(room, set()))


def faults(path: Path) -> Iterator[str]:
    """Yield the imports of a file that the tables forbid."""
    where = path.relative_to(PACKAGE)
    room = where.with_suffix("").parts[0]
    for module in imported(path):
        top, *rest = module.split(".")
        if top == "workbench":
            if rest and rest[0] != room and rest[0] not in ROOMS[room]:
                yield f"{where}: {room} may not import {module}"
            elif rest[1:] and rest[0] == room:
                yield from inner_faults(where, rest[1])
        elif top == "tensorflow" and where.as_posix() == DEVICES_CHILD:
            continue
        elif top not in sys.stdlib_module_names and top not in packages_of(where):
            yield f"{where}: {room} may not import {top}"


def inner_faults(where: Path, imported_room: str) -> Iterator[str]:
    """Yield the imports of a file from a higher inner room of its own room."""
    order = INNER.get(where.parts[0], ())
    at = {name: level for level, names in enumerate(order) for name in names}
    here = where.with_suffix("").parts[1]
    if here not in at or imported_room == here:
        return
    if at.get(imported_room, len(order)) >= at[here]:
        yield f"{where}: {here} may not import {imported_room}"


def module_of(path: Path) -> str:
    """Return the full name of a file as a module."""
    parts = ("workbench", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def import_graph() -> dict[str, set[str]]:
    """Return the modules that each module imports, also in functions and only for types."""
    files = {module_of(path): path for path in PACKAGE.rglob("*.py")}
    return {
        name: {holder(module, files) for module in imported(path)} & set(files) - {name}
        for name, path in files.items()
    }


def holder(module: str, files: Collection[str]) -> str:
    """Return the module of a full name; the name itself if it is not ours."""
    parts = module.split(".")
    longer = (".".join(parts[:count]) for count in range(len(parts), 0, -1))
    return next((name for name in longer if name in files), module)


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Return the modules of a circle; an empty list if there is no circle."""
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        return list(error.args[1])
    return []


def test_each_room_imports_only_permitted_modules() -> None:
    assert [fault for path in sorted(PACKAGE.rglob("*.py")) for fault in faults(path)] == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circle(import_graph()) == []


def test_no_test_imports_another_test() -> None:
    tests = Path(__file__).parent
    importing = {
        f"{path.relative_to(tests)}: {module}"
        for path in tests.rglob("*.py")
        for module in imported_names(path.read_text(encoding="utf-8"), ("tests",))
        if any(part.startswith("test_") for part in module.split("."))
    }
    assert importing == set()


def test_a_circle_is_found_through_functions_and_types(tmp_path: Path) -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) != []
    late = tmp_path / "late.py"
    late.write_text("def use():\n    from workbench.runs import Run\n")
    assert list(imported_names(late.read_text(), ("workbench",))) == ["workbench.runs.Run"]


def test_no_folder_has_more_than_fifteen_files() -> None:
    counts = Counter(path.parent.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))
    assert {folder: count for folder, count in counts.items() if count > MOST_FILES} == {}


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        (
            "workbench",
            "tensorflow keras pandas numpy plotly ipywidgets IPython matplotlib psutil pynvml",
        ),
        (
            "workbench.runs.supervise.__main__",
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
