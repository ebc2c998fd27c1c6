"""The names that a text uses from outside."""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Iterator

from workbench.syntax import parse

OF_NOTEBOOKS = frozenset({"get_ipython", "display", "In", "Out", "_ih", "_oh"})
"""Names that only a notebook has; some of them are builtins there."""


def names_from_outside(text: str) -> list[str]:
    """Return the names that a definition reads but does not bind, in order of appearance.

    Builtins are left out, except the builtins of notebooks.
    """
    table = symtable.symtable(text, "definition", "exec")
    bound = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned()}
    found = set(_read(table)) - bound - (set(dir(builtins)) - OF_NOTEBOOKS)
    names = [node for node in ast.walk(parse(text)) if isinstance(node, ast.Name)]
    written = [node.id for node in sorted(names, key=lambda node: (node.lineno, node.col_offset))]
    first = {name: place for place, name in reversed(list(enumerate(written)))}
    return sorted(found, key=lambda name: (first.get(name, len(written)), name))


def _read(table: symtable.SymbolTable) -> Iterator[str]:
    of_module = table.get_type() == "module"
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (of_module or symbol.is_global()):
            yield symbol.get_name()
    for inner in table.get_children():
        yield from _read(inner)
