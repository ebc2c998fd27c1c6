"""The names that a file binds at its top level, and the names that scripts already bind."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ..syntax import parse

ENGINE = Path(__file__).parents[1] / "engine"
DEFINED = ""
_PROGRAMS = ENGINE / "programs"
_BUILTINS = frozenset(dir(builtins))
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_OWN_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def bound_names(tree: ast.Module) -> dict[str, str]:
    """Return the import of each top-level name, or `DEFINED` for a name that is not imported."""
    return dict(_bound(tree))


@cache
def script_names() -> dict[str, str]:
    """Return the names of all possible scripts as `bound_names` does, with their builtins."""
    names: dict[str, str] = {}
    for path in sorted(ENGINE.rglob("*.py")):
        if path.is_relative_to(_PROGRAMS):
            continue
        tree = parse(path.read_text(encoding="utf-8"))
        reads = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        bound = {name_in_scripts(name): origin for name, origin in bound_names(tree).items()}
        names |= {name: f"builtins.{name}" for name in reads & _BUILTINS} | bound
    return names


def name_in_scripts(function: str) -> str:
    """Return the name that a function of the engine has in scripts.

    Of the functions `NAME__KIND`, a script contains one, which is called NAME there.
    """
    return function.partition("__")[0]


def is_for_checkers(node: ast.AST) -> bool:
    """Return whether the node is an `if TYPE_CHECKING:` block, which no script contains."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _bound(node: ast.AST) -> Iterator[tuple[str, str]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield alias.asname or _root(alias.name), _module(alias)
        elif isinstance(child, ast.ImportFrom):
            for alias in child.names:
                yield alias.asname or alias.name, f"{child.module}.{alias.name}"
        elif isinstance(child, _SCOPES):
            yield child.name, DEFINED
        elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.id, DEFINED
        elif not is_for_checkers(child) and not isinstance(child, _OWN_SCOPES):
            yield from _bound(child)


def _module(alias: ast.alias) -> str:
    return alias.name if alias.asname else _root(alias.name)


def _root(module: str) -> str:
    return module.split(".", maxsplit=1)[0]
