"""The renaming of names in a text, which changes nothing else in it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from .parsing import parse

_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


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
            names |= {name for member in node.body for name in _binds(member)}
    return names


def _binds(member: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement of a class body can bind."""
    if isinstance(member, _NAMED):
        yield member.name
        return
    for node in ast.walk(member):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, _NAMED):
            yield node.name


def _places(
    tree: ast.Module, names: Mapping[str, str], text: str
) -> Iterator[tuple[int, int, str]]:
    """Yield line, column in bytes and name for each place of a name."""
    lines = text.split("\n")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in names:
            yield node.lineno, node.col_offset, node.id
        elif isinstance(node, _NAMED) and node.name in names:
            line = lines[node.lineno - 1]
            match = re.search(rf"(?:def|class)\s+({re.escape(node.name)})\b", line)
            if match:
                yield node.lineno, len(line[: match.start(1)].encode()), node.name


def _in_tree(tree: ast.Module, names: Mapping[str, str]) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
        elif isinstance(node, _NAMED):
            node.name = names.get(node.name, node.name)
    return tree
