"""The names in texts of Python: a parser, what binds names, and other names for them."""

from __future__ import annotations

import ast
import builtins
import re
import threading
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

ENGINE = Path(__file__).parents[1] / "engine"
DEFINED = ""
"""What stands for the import of a name that is not imported."""
_LOCK = threading.Lock()
_PROGRAMS = ENGINE / "programs"
_BUILTINS = frozenset(dir(builtins))
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_OWN_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def parse(source: str | bytes) -> ast.Module:
    """Return the tree of a source, as `ast.parse` does.

    Raises:
        SyntaxError: the source is not Python.
        ValueError: the source contains a null character.
    """
    # CPython 3.11 counts the depth of the tree in one place for all threads. Another thread can
    # run during a garbage collection: https://github.com/python/cpython/issues/106905.
    with _LOCK:
        return ast.parse(source)


def own_name(name: str) -> str:
    """Return the other name for a user's name that scripts already use."""
    return f"OWN_{name}" if name.isupper() else f"own_{name}"


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Return the text with each top-level name of `names` replaced by its new name.

    Raises:
        ValueError: the replacement would change the meaning of the text, because an argument, an
            import or a member of a class has such a name too, or quoted text contains it.
    """
    if not names:
        return text
    if also := names.keys() & _bound_otherwise(parse(text)):
        raise ValueError(f"{', '.join(sorted(also))}: also an argument, an import or a member")
    lines = [line.encode() for line in text.split("\n")]
    for number, column, name in sorted(set(_places(parse(text), names, text)), reverse=True):
        line, old = lines[number - 1], name.encode()
        if line[column : column + len(old)] == old:
            lines[number - 1] = line[:column] + names[name].encode() + line[column + len(old) :]
    result = b"\n".join(lines).decode()
    meant = ast.unparse(_in_tree(parse(text), names))
    if ast.unparse(parse(result)) != meant:
        raise ValueError(f"{', '.join(names)}: also in quoted text")
    return result


def _bound_otherwise(tree: ast.Module) -> set[str]:
    """Return the names of arguments, imports, members of classes, and global or nonlocal names."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name.split(".")[0])
        elif isinstance(node, ast.Global | ast.Nonlocal):
            names.update(node.names)
        elif isinstance(node, ast.ClassDef):
            names |= {name for member in node.body for name in _members(member)}
    return names


def _members(member: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement of a class body can bind."""
    if isinstance(member, _SCOPES):
        yield member.name
        return
    for node in ast.walk(member):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, _SCOPES):
            yield node.name


def _places(
    tree: ast.Module, names: Mapping[str, str], text: str
) -> Iterator[tuple[int, int, str]]:
    """Yield line, column in bytes and name for each place of a name."""
    lines = text.split("\n")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in names:
            yield node.lineno, node.col_offset, node.id
        elif isinstance(node, _SCOPES) and node.name in names:
            line = lines[node.lineno - 1]
            match = re.search(rf"(?:def|class)\s+({re.escape(node.name)})\b", line)
            if match:
                yield node.lineno, len(line[: match.start(1)].encode()), node.name


def _in_tree(tree: ast.Module, names: Mapping[str, str]) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
        elif isinstance(node, _SCOPES):
            node.name = names.get(node.name, node.name)
    return tree


def bound_names(tree: ast.Module) -> dict[str, str]:
    """Return the import of each top-level name, or `DEFINED` for a name that is not imported."""
    return dict(_top_level(tree))


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


def _top_level(node: ast.AST) -> Iterator[tuple[str, str]]:
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
            yield from _top_level(child)


def _module(alias: ast.alias) -> str:
    return alias.name if alias.asname else _root(alias.name)


def _root(module: str) -> str:
    return module.split(".", maxsplit=1)[0]
