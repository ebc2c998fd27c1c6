"""The code of the user's own functions in a script, as texts for separate files."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..codegen.lifting import Lifted, lines_of, merge_imports
from ..codegen.script import OWN
from ..config import ConfigError, Problem
from ..plan.names import bound_names, parse

_BELOW = (
    "def as_arrays(", "def as_examples(", "def as_batch(", "def from_batches(", "def check_size(",
    "def check_data(", "def prepare_model(", "def check_step(",
    "def one_example(",  # in scripts of 08966cc
)  # fmt: skip
"""The beginnings of the workbench's functions, one of which stands below each own function."""


class ScriptError(ConfigError):
    """A text that cannot be opened as a script: the rule, the part found, and the fix."""

    def __init__(self, rule: str, got: str, fix: str) -> None:
        super().__init__([Problem("script", rule, got, fix)])


@dataclass(frozen=True)
class Kept:
    """A function of a script for a field of the form, as the text of a file."""

    field: str
    function: str
    source: str


def keep_own(script: str, tree: ast.Module, functions: Mapping[str, str]) -> tuple[Kept, ...]:
    """Return the user's functions, given their names by field, each with all that it uses.

    A function may use code of those before it; its file has that code, too.

    Raises:
        ScriptError: the mark above a function or the check below it is gone.
    """
    kept: list[Kept] = []
    before: list[str] = []
    for field, function in functions.items():
        code = _code(script, OWN.format(field=field, function=function))
        text = "\n\n\n".join([*_used(before, code), code])
        rest = _read(script.replace(code, ""))
        imports = merge_imports([Lifted(tuple(_imports(tree, text, rest)), "", frozenset())])
        kept.append(Kept(field, function, f"{imports}\n\n\n{text}\n"))
        before += _statements(code)
    return tuple(kept)


def _code(script: str, mark: str) -> str:
    """Return the lines between a mark and the workbench's check below it."""
    lines = script.split("\n")
    first = lines.index(mark) + 1 if mark in lines else len(lines)
    ends = (n for n, line in enumerate(lines) if n >= first and line.startswith(_BELOW))
    end = next(ends, None)
    if end is None:
        rule = "a script with your function between the workbench's mark and check"
        got = f"a text without {mark}, or without the check below it"
        raise ScriptError(rule, got, "Restore both lines, then open it again.")
    return "\n".join(lines[first:end]).strip()


def _statements(code: str) -> Iterator[str]:
    """Yield the top-level statements of a text, each with the comments above it."""
    lines = code.split("\n")
    for node in parse(code).body:
        at = lines_of(node, lines)
        yield "\n".join(lines[at.start - 1 : at.stop - 1])


def _used(statements: Sequence[str], code: str) -> list[str]:
    """Return the statements that bind names that the code reads, and all that these read."""
    names, taken = _read(code), set[str]()
    bound = {each: bound_names(parse(each)).keys() for each in statements}
    while more := {each for each in statements if each not in taken and bound[each] & names}:
        taken |= more
        names = names.union(*map(_read, more))
    return [each for each in statements if each in taken]


def _imports(tree: ast.Module, text: str, rest: set[str]) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the imports that a text reads, and those that the rest of the script does not read."""
    read = _read(text)
    for node, bound in _single_imports(tree):
        if bound in read or bound not in rest:
            yield node


def _single_imports(tree: ast.Module) -> Iterator[tuple[ast.Import | ast.ImportFrom, str]]:
    """Yield each imported name as an import of its own, with the name that it binds."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            for each in node.names:
                yield ast.Import([each]), each.asname or each.name.partition(".")[0]
        elif isinstance(node, ast.ImportFrom):
            for each in node.names:
                yield ast.ImportFrom(node.module, [each], node.level), each.asname or each.name


def _read(code: str) -> set[str]:
    return {node.id for node in ast.walk(parse(code)) if isinstance(node, ast.Name)}
