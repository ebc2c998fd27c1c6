"""The user's own function, `module:function` or `file.py:function`: found and read as text."""

from __future__ import annotations

import ast
import os
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.machinery import PathFinder
from itertools import pairwise
from keyword import iskeyword
from pathlib import Path

from ..syntax import parse
from .names import DEFINED, bound_names, script_names
from .problems import Findings

NOTEBOOK = ".ipynb"
SCRIPT_NAMES = {"model": "make_model", "data": "make_data", "step": "train_step"}
"""The function that scripts call for each field. The user's own function may have this name."""
_EXAMPLES = {
    "model": "models:build_model",
    "data": "data:load_data",
    "step": "steps:train_step",
}


@dataclass(frozen=True)
class OwnFunction:
    """A user's function for the model, data or step: lifted from a file, or imported."""

    function: str
    module: str | None
    """The module from which it is imported; None if `source` is lifted."""
    source: str | None
    """The complete text of the file; None if the function is imported."""


def read_own_function(findings: Findings, field: str, address: str) -> OwnFunction | None:
    """Find a function by `module:function` or `file.py:function`, or note why it is unusable."""
    where, _, function = address.rpartition(":")
    if NOTEBOOK in address:
        _refuse_notebook(findings, field, address)
        return None
    if address.endswith(".py"):
        _name_its_functions(findings, field, address)
        return None
    if not _is_name(function) or not where:
        rule = "module:function or file.py:function"
        example = _EXAMPLES[field].replace(":", ".py:")
        findings.add(field, rule, address, f"Write, for example, my_{example}.")
        return None
    if where.endswith(".py"):
        return _from_file(findings, field, where, function)
    if not all(map(_is_name, where.split("."))):
        rule = "module:function with a dotted module name, or file.py:function"
        fix = f"Write, for example, my_package.{_EXAMPLES[field]}."
        findings.add(field, rule, address, fix)
        return None
    return OwnFunction(function, module=where, source=None)


def _refuse_notebook(findings: Findings, field: str, address: str) -> None:
    """Note that a notebook was named, from which no function can be imported."""
    path, _, function = address.partition(NOTEBOOK)
    name = function.removeprefix(":") or _EXAMPLES[field].partition(":")[2]
    fix = (
        f"Save the function in a file and name it {path}.py:{name}; or, in the notebook, pass the "
        f"function itself: Workbench({field}={name})."
    )
    rule = "a function of a module or .py file, because a notebook cannot be imported"
    findings.add(field, rule, address, fix)


def module_file(module: str, asked_from: Path | None = None) -> Path | None:
    """Return the file of a module that a run imports; None for an installed module.

    `asked_from` is the folder in which the run is asked for; None: the working folder. Nothing is
    imported, because an import would run the module.
    """
    path = os.environ.get("PYTHONPATH", "")
    base = asked_from or Path.cwd()
    folders = [*(base / entry for entry in path.split(os.pathsep) if entry), base]
    places = [Path(folder, *module.split(".")) for folder in folders]
    files = [file for place in places for file in (place / "__init__.py", place.with_suffix(".py"))]
    return next(filter(Path.is_file, files), None)


def check_own_together(findings: Findings, *functions: OwnFunction | None) -> None:
    """Note names that have different meanings in two user files that go into one script."""
    meant: dict[str, str] = {}
    for function in functions:
        if function is None or function.source is None:
            continue
        own = _meanings(function.source)
        if differing := sorted(n for n in own.keys() & meant.keys() if own[n] != meant[n]):
            rule = "a function from a file whose names do not clash with those in your other files"
            got = f"different meanings of {', '.join(differing)}"
            fix = "Rename them in one file, or give the function as module:function."
            findings.add("model", rule, got, fix)
        meant |= own


def _meanings(source: str) -> dict[str, str]:
    """Return the import of each top-level name of a file, or the code that binds the name."""
    tree = parse(source)
    meanings = bound_names(tree)
    for node in tree.body:
        code = ast.unparse(node)
        for name in bound_names(ast.Module([node], [])):
            meanings[name] = meanings[name] or code
    return meanings


def _is_name(text: str) -> bool:
    return text.isidentifier() and not iskeyword(text)


def _name_its_functions(findings: Findings, field: str, where: str) -> None:
    """Note that a file was named without a function, and offer the functions that it has."""
    if (read := _read(findings, field, where)) is not None:
        path, _, tree = read
        names = [f"{where}:{name}" for name in _functions(tree)]
        fix = f"Write {' or '.join(names)}." if names else f"Define a function in {path.name}."
        findings.add(field, "a function in this file, as file.py:function", where, fix)


def _read(findings: Findings, field: str, where: str) -> tuple[Path, str, ast.Module] | None:
    """Return a file's path, text and code, or note why it cannot be read."""
    try:
        path = Path(where).expanduser()
        with tokenize.open(path) as file:
            source = file.read()
        return path, source, parse(source)
    except SyntaxError as error:
        at = f", line {error.lineno}" if error.lineno else ""
        findings.add(field, "a file of valid Python", f"{where}{at}: {error.msg}", "Fix the file.")
    except FileNotFoundError:
        fix = f"It was not found in {Path.cwd() / path.parent}. Fix the path, or give it in full."
        findings.add(field, "a file that exists", where, fix)
    except (OSError, ValueError, RuntimeError) as error:
        fix = f"Fix the path: {str(error).rstrip('.')}."
        findings.add(field, "a file that can be read", where, fix)
    return None


def _functions(tree: ast.Module) -> list[str]:
    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]


def _from_file(findings: Findings, field: str, where: str, function: str) -> OwnFunction | None:
    if (read := _read(findings, field, where)) is None:
        return None
    path, source, tree = read
    functions = _functions(tree)
    if function not in functions:
        has = f"{path.name} has {', '.join(functions)}"
        fix = f"{has}. Name one of them." if functions else f"Define it in {path.name}."
        findings.add(field, f"a function of {path.name}", function, fix)
        return None
    for rule, got, fix in _unliftable(path, tree, function, field):
        findings.add(field, rule, got, fix)
    return OwnFunction(function, module=None, source=source)


def _imported(tree: ast.Module) -> set[str]:
    """Return the packages that the code imports anywhere."""
    modules: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules.add(node.module)
    return {module.split(".")[0] for module in modules}


def _only_in_this_folder(module: str) -> bool:
    """Return whether a module is only in the working folder, which no lifted script searches."""
    here = Path.cwd()
    if not any(path.is_file() for path in (here / f"{module}.py", here / module / "__init__.py")):
        return False
    elsewhere = [path for path in sys.path if path and Path(path) != here]
    installed = PathFinder.find_spec(module, elsewhere)
    return module not in sys.stdlib_module_names and installed is None


def _unliftable(
    path: Path, tree: ast.Module, function: str, field: str
) -> Iterator[tuple[str, str, str]]:
    """Yield rule, finding and fix for each part that cannot go into a standalone script."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    if any(node.level for node in imports):
        fix = f"Give it as package.{path.stem}:function, from a folder where it can be imported."
        yield "a file without relative imports", path.name, fix
    if any(alias.name == "*" for node in imports for alias in node.names):
        yield "a file without star imports", path.name, "Import the names that it uses."
    if any(isinstance(node, ast.If) and "__name__" in ast.unparse(node.test) for node in tree.body):
        fix = "Move the function to a separate file, or give it as module:function."
        yield "a file without a __main__ block", path.name, fix
    if local := sorted(filter(_only_in_this_folder, _imported(tree))):
        fix = f"Copy the code that it uses into its file, or give the {field} as module:function."
        yield (
            "code that imports only installed packages",
            f"{', '.join(local)} from this folder",
            fix,
        )
    for first, second in pairwise(tree.body):
        if first.end_lineno == second.lineno:
            got = f"{path.name}, line {second.lineno}"
            yield "a file with one statement per line", got, "Break the line at the semicolon."
    taken = script_names()
    collisions = sorted(
        name
        for name, origin in bound_names(tree).items()
        if name in taken and (origin == DEFINED or origin != taken[name])
        if name != function or name != SCRIPT_NAMES[field]
    )
    if collisions:
        fix = f"Rename them in your file, or give the {field} as module:function."
        yield "a file without names that the script already uses", ", ".join(collisions), fix
