"""The text of functions, classes and imports, as typed in cells or a file, and its outer names."""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import symtable
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from textwrap import dedent
from types import FunctionType, ModuleType
from typing import Any

from workbench.plan.names import parse

OF_NOTEBOOKS = frozenset({"get_ipython", "display", "In", "Out", "_ih", "_oh"})
"""Names that only a notebook has; some of them are builtins there."""
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


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


def plain_function(value: Any) -> FunctionType | None:
    """Return the written function below decorators such as tf.function; None if there is none."""
    inner = inspect.unwrap(value) if callable(value) else None
    return inner if isinstance(inner, FunctionType) else None


def definition_of(value: Any, namespace: Mapping[str, Any]) -> str | None:
    """Return the text of a function or class with its decorators; None if it is not found."""
    if isinstance(value, type):
        return _class_text(value, namespace)
    function = plain_function(value)
    if function is None:
        return None
    code = function.__code__
    return _text_at(_lines(code.co_filename), code.co_name, code.co_firstlineno)


def import_of(name: str, value: Any, namespace: Mapping[str, Any]) -> list[str]:
    """Return the import statements that give a name its value here; none if there are none.

    A typed statement is returned as it was typed. Without one, the statement is made from the
    value's own module and name. Nothing is executed: the value that a statement would give is
    looked up among the loaded modules.
    """
    typed = [text for text, found in _imports(name, namespace) if _same(found, value)]
    if typed:
        return sorted(set(typed)) if isinstance(value, ModuleType) else typed[:1]
    if isinstance(value, ModuleType) and sys.modules.get(value.__name__) is value:
        return [_import_module(value.__name__, name)]
    home, own = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    elsewhere = home != namespace.get("__name__")
    if isinstance(home, str) and isinstance(own, str) and elsewhere and _member(home, own) is value:
        return [f"from {home} import {own}" + f" as {name}" * (own != name)]
    return []


def _same(found: Any, value: Any) -> bool:
    """Return whether both are one object, or modules of one file, because tf.keras has several."""
    if isinstance(found, ModuleType) and isinstance(value, ModuleType):
        files = [getattr(module, "__file__", None) for module in (found, value)]
        return found is value or (files[0] == files[1] is not None)
    return found is value and found is not None


def _class_text(value: type, namespace: Mapping[str, Any]) -> str | None:
    """Return the text of the class definition that contains the class's own methods.

    For a class without methods, it is the last definition with the class's name.
    """
    for member in vars(value).values():
        method = plain_function(member)
        if method is not None and method.__qualname__.startswith(f"{value.__qualname__}."):
            code = method.__code__
            return _text_at(_lines(code.co_filename), value.__name__, code.co_firstlineno)
    typed = (_text_at(text.splitlines(True), value.__name__) for text in _typed(namespace)[::-1])
    return next(filter(None, typed), None)


def _lines(file: str) -> list[str]:
    return linecache.getlines(file)


def _text_at(lines: list[str], name: str, line: int | None = None) -> str | None:
    """Return the text of the definition of this name; if a line is given, the one around it."""
    for node in ast.walk(_parsed("".join(lines))):
        if isinstance(node, Definition) and node.name == name:
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            last = node.end_lineno or node.lineno
            if line is None or first <= line <= last:
                text = "".join(lines[first - 1 : last]).rstrip()
                return dedent(text) if node.col_offset else text
    return None


@lru_cache(maxsize=1000)
def _parsed(text: str) -> ast.Module:
    """Return a cell's tree, cached because a form asks about the same cells at each change."""
    try:
        return parse(text)
    except SyntaxError:
        return ast.Module([], [])


def _imports(name: str, namespace: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield each typed import statement of this name and its present value, newest cell first."""
    for text in reversed(_typed(namespace)):
        if "import" in text and name in text:
            yield from _imports_in(text, name)


def _imports_in(text: str, name: str) -> Iterator[tuple[str, Any]]:
    for node in ast.walk(_parsed(text)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if (alias.asname or alias.name.split(".")[0]) == name:
                    yield (
                        _import_alias(alias),
                        sys.modules.get(alias.name if alias.asname else name),
                    )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    statement = f"from {node.module} {_import_alias(alias)}"
                    yield statement, _member(node.module, alias.name)


def _typed(namespace: Mapping[str, Any]) -> list[str]:
    """Return the texts that made a namespace: a notebook's cells in order, or a file."""
    cells = namespace.get("In")
    if isinstance(cells, list):
        return [cell for cell in cells if isinstance(cell, str)]
    return ["".join(_lines(str(namespace.get("__file__", ""))))]


def _import_alias(alias: ast.alias) -> str:
    return f"import {alias.name}" + (f" as {alias.asname}" if alias.asname else "")


def _import_module(module: str, name: str) -> str:
    return f"import {module}" + f" as {name}" * (module != name)


def _member(module: str, name: str) -> Any:
    """Return the value of a name in a loaded module; the value may be a submodule."""
    value: Any = sys.modules.get(module)
    for part in name.split("."):
        value = getattr(value, part, None)
    return value if value is not None else sys.modules.get(f"{module}.{name}")
