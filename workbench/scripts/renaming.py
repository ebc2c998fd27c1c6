"""The renaming of names in a text, which changes nothing else in it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from workbench.syntax import parse

from .parts import ScriptError

_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Return the text with each top-level name of `names` replaced by its new name.

    Raises:
        ScriptError: the replacement would change the meaning of the text.
    """
    if not names:
        return text
    lines = [line.encode() for line in text.split("\n")]
    for number, column, name in sorted(set(_places(parse(text), names, text)), reverse=True):
        line, old = lines[number - 1], name.encode()
        if line[column : column + len(old)] == old:
            lines[number - 1] = line[:column] + names[name].encode() + line[column + len(old) :]
    result = b"\n".join(lines).decode()
    meant = ast.unparse(_in_tree(parse(text), names))
    if ast.unparse(parse(result)) != meant:
        rule = "code whose names cannot be confused with the names of scripts"
        fix = f"Rename {', '.join(names)} in the script by hand, also inside quoted text."
        raise ScriptError(rule, ", ".join(names), fix)
    return result


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
