"""The lifting of functions as they are written, separate from the imports of their file."""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from ..plan.names import is_for_checkers, name_in_scripts, parse


@dataclass(frozen=True)
class Lifted:
    """The parts of a file that go into a script."""

    imports: tuple[ast.Import | ast.ImportFrom, ...]
    body: str
    """The text without imports and the file's own docstring; comments stay."""
    uses: frozenset[str]
    """Every name that the body reads."""


def lift(source: str, known: frozenset[str] = frozenset()) -> Lifted:
    """Split a file's text into imports and body.

    Code under `if TYPE_CHECKING:` is left out, because it is for type checkers. Statements that
    the script already has are also left out: `known`, as `statements` returns them.
    """
    tree = parse(source)
    imports = tuple(node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom))
    left_out = [
        node
        for number, node in enumerate(tree.body)
        if node in imports
        or _is_docstring(node, number)
        or is_for_checkers(node)
        or ast.unparse(node) in known
    ]
    # Not splitlines: it also splits at form feeds and other marks that Python does not count.
    lines = source.split("\n")
    dropped = {line for node in left_out for line in lines_of(node, lines)}
    kept = [line for number, line in enumerate(lines, start=1) if number not in dropped]
    rest = [node for node in tree.body if node not in left_out]
    return Lifted(imports, "\n".join(kept).strip(), frozenset().union(*map(_reads, rest)))


def lift_function(source: str, name: str) -> Lifted:
    """Return a function of a file, with the functions of the file that it calls.

    In the script, the function has the name that `name_in_scripts` gives. The file has nothing else
    at its top level than functions and imports.
    """
    tree, lines = _parsed(source), source.split("\n")
    bodies = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    needed, left = set[str](), [name]
    while left:
        needed.add(each := left.pop())
        left += (_reads(bodies[each]) & bodies.keys()) - needed
    kept = [node for each, node in bodies.items() if each in needed]
    texts = [[lines[at - 1] for at in lines_of(node, lines)] for node in kept]
    body = "\n\n\n".join("\n".join(text) for text in texts)
    body = body.replace(f"def {name}(", f"def {name_in_scripts(name)}(", 1)
    uses = frozenset().union(*map(_reads, kept))
    return Lifted(tuple(_used_imports(tree, uses)), body, uses)


@cache
def _parsed(source: str) -> ast.Module:
    """Parse a file of the engine once for all its functions."""
    return parse(source)


def _reads(node: ast.AST) -> frozenset[str]:
    """Return every name that a part of a file reads."""
    return frozenset(each.id for each in ast.walk(node) if isinstance(each, ast.Name))


def _used_imports(tree: ast.Module, uses: frozenset[str]) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the imports of a file, each without the names that are not used."""
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [each for each in node.names if _bound_by(each) in uses]
            if names and isinstance(node, ast.Import):
                yield ast.Import(names)
            elif names and isinstance(node, ast.ImportFrom):
                yield ast.ImportFrom(node.module, names, node.level)


def _bound_by(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def statements(source: str) -> frozenset[str]:
    """Return the code of each statement of a file's top level."""
    return frozenset(ast.unparse(node) for node in parse(source).body)


def merge_imports(parts: Iterable[Lifted]) -> str:
    """Return each import once, sorted as isort sorts: the standard library, then the others."""
    modules: set[str] = set()
    members: dict[str, set[str]] = defaultdict(set)
    for node in (node for part in parts for node in part.imports):
        for alias in node.names:
            text = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
            if isinstance(node, ast.Import):
                modules.add(text)
            elif text != "TYPE_CHECKING":
                members[node.module or ""].add(text)
    groups: dict[int, list[str]] = {0: [], 1: [], 2: []}
    for module in sorted(modules):
        groups[_group(module)].append(f"import {module}")
    for module in sorted(members):
        names = ", ".join(sorted(members[module], key=_isort_key))
        groups[_group(module)].append(f"from {module} import {names}")
    return "\n\n".join("\n".join(lines) for lines in groups.values() if lines)


def _group(module: str) -> int:
    root = module.split(" ", maxsplit=1)[0].split(".", maxsplit=1)[0]
    return 0 if root == "__future__" else 1 if root in sys.stdlib_module_names else 2


def _isort_key(name: str) -> tuple[int, str]:
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


def _is_docstring(node: ast.stmt, number: int) -> bool:
    return number == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def lines_of(node: ast.stmt, lines: list[str]) -> range:
    """Return a statement's line numbers, with its decorators and the comments above it.

    Comments above an import do not count.
    """
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    if not isinstance(node, ast.Import | ast.ImportFrom):
        while first > 1 and lines[first - 2].startswith("#"):
            first -= 1
    return range(first, (node.end_lineno or node.lineno) + 1)
