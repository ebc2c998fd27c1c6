"""The text of a script, split into the statements of its top level. Nothing is executed."""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property, lru_cache

from ..codegen.script import ENTRY, HELPERS, MARKER
from ..config import ConfigError, Problem
from ..syntax import parse

MARK = MARKER.splitlines()[0].split(":")[0]
"""The beginning of the line above the recorder."""
DEFINITION, ASSIGNMENT, IMPORT, TITLE, OTHER = (
    "definition",
    "assignment",
    "import",
    "title",
    "other",
)
SLOTS = ("make_strategy", "make_data", "make_model", "main")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class ScriptError(ConfigError):
    """A text that cannot be opened as a script: the rule, the part found, and the fix."""

    def __init__(self, rule: str, got: str, fix: str) -> None:
        super().__init__([Problem("script", rule, got, fix)])


@dataclass(frozen=True)
class Statement:
    """A statement of the top level, or one name of an import."""

    kind: str
    name: str
    """The name of a definition or assignment, the text of a title, else the code."""
    text: str
    """The text as written, with decorators and the comments above it."""
    node: ast.stmt
    first: int
    """Its first line, counted from 1, including the comments above it."""
    last: int

    @cached_property
    def code(self) -> str:
        """The code without comments and layout."""
        return self.name if self.kind == IMPORT else ast.unparse(self.node)

    def means(self, other: Statement) -> bool:
        """Return whether both statements mean the same: the same code, or the same plain value."""
        if self.text == other.text or self.code == other.code:
            return True
        values = [getattr(each.node, "value", None) for each in (self, other)]
        if self.kind != ASSIGNMENT or not all(isinstance(each, ast.Constant) for each in values):
            return False
        one, two = (each.value for each in values if isinstance(each, ast.Constant))
        return one == two and isinstance(one, bool) == isinstance(two, bool)

    @property
    def key(self) -> tuple[str, str]:
        """The key of the same statement in another script, even with other contents there."""
        return self.kind, self.name


@dataclass(frozen=True)
class Parts:
    """The statements of a plan's own script, and those that all scripts share."""

    lines: tuple[str, ...]
    body: tuple[Statement, ...]
    """Those above the recorder's marker, and the helpers at the end."""
    shared: tuple[Statement, ...]
    """The recorder and what follows it, without the helpers."""

    @cached_property
    def text(self) -> str:
        """The complete text, with the line ends that the workbench writes."""
        return "\n".join(self.lines)

    @cached_property
    def by_key(self) -> dict[tuple[str, str], Statement]:
        """The statements of the body, by key."""
        return {statement.key: statement for statement in self.body}

    @cached_property
    def title(self) -> str:
        """The string on the script's first line; empty if there is none."""
        return next((each.name for each in self.body if each.kind == TITLE), "")

    def definition(self, name: str) -> Statement | None:
        """Return a function or class of the body."""
        return self.by_key.get((DEFINITION, name))

    def assignment(self, name: str) -> Statement | None:
        """Return the assignment of a name in the body."""
        return self.by_key.get((ASSIGNMENT, name))

    def region(self, first: Statement, last: Statement) -> str:
        """Return the lines from one statement to another as they are written."""
        return "\n".join(self.lines[first.first - 1 : last.last])


def split(text: str) -> Parts:
    """Split a script into its parts.

    Raises:
        ScriptError: the text is not Python, or not a script of the workbench.
    """
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    try:
        tree = parse(plain)
    except (SyntaxError, ValueError, RecursionError) as error:
        at = f"line {error.lineno}: {error.msg}" if isinstance(error, SyntaxError) else str(error)
        raise ScriptError("valid Python", at, "Fix that line, then open it again.") from error
    lines = plain.split("\n")
    own = _own_lines(lines, _recorder_line(tree))
    statements = [each for node in tree.body for each in _statements(node, lines)]
    body = tuple(each for each in statements if each.node.lineno in own)
    shared = tuple(each for each in statements if each.node.lineno not in own)
    parts = Parts(tuple(lines), body, shared)
    missing = [name for name in SLOTS if not _binds(parts, name)]
    if missing:
        has = ", ".join(each.name for each in body if each.kind == DEFINITION)
        rule = f"a script that the workbench wrote, which has {', '.join(SLOTS)}"
        got = f"a text without {', '.join(missing)} (it has {has or 'no function'})"
        fix = "Open a saved train.py or the one of a run; give your own code as model or data."
        raise ScriptError(rule, got, fix)
    return parts


def split_made(text: str) -> Parts:
    """Split a script as the workbench writes it, faster than `split`.

    The lines of shared statements are counted without the lines of the body.
    """
    lines = text.split("\n")
    own = _own_lines(lines)
    body = [line if number in own else "" for number, line in enumerate(lines, 1)]
    shared = [line for number, line in enumerate(lines, 1) if number not in own]
    return Parts(tuple(lines), _all_statements("\n".join(body)), _shared("\n".join(shared)))


@lru_cache(maxsize=4)  # a search for a config splits many scripts that differ in their bodies only
def _shared(text: str) -> tuple[Statement, ...]:
    return _all_statements(text)


def _all_statements(text: str) -> tuple[Statement, ...]:
    lines = text.split("\n")
    return tuple(each for node in parse(text).body for each in _statements(node, lines))


def _own_lines(lines: list[str], recorder_line: int = 0) -> Collection[int]:
    """Return the numbers of the lines above the recorder and of the helpers, counted from 1.

    `recorder_line` is where the recorder starts if its marker is missing.
    """
    end = len(lines) + 1
    above = range(1, _line(lines, MARK) or recorder_line or end)
    helpers = range(_line(lines, HELPERS) or end, _line(lines, ENTRY) or end)
    return {*above, *helpers}


def _line(lines: list[str], beginning: str) -> int:
    """Return the number of the first line that begins so, counted from 1; 0 if there is none."""
    return next((n for n, line in enumerate(lines, 1) if line.startswith(beginning)), 0)


def _recorder_line(tree: ast.Module) -> int:
    """Return the recorder's first line in a script without its marker; 0 without a recorder."""
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return next((each.lineno for each in classes if each.name in ("Records", "Recorder")), 0)


def _binds(parts: Parts, name: str) -> bool:
    return parts.definition(name) is not None or parts.assignment(name) is not None


def _statements(node: ast.stmt, lines: list[str]) -> list[Statement]:
    """Return the statement; an import gives one statement for each of its names."""
    first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
    while first > 1 and lines[first - 2].startswith("#") and not lines[first - 2].startswith(MARK):
        first -= 1
    last = node.end_lineno or node.lineno
    text = "\n".join(lines[first - 1 : last])
    if isinstance(node, ast.Import | ast.ImportFrom):
        codes = [_import_code(node, alias) for alias in node.names]
        return [Statement(IMPORT, code, code, node, first, last) for code in codes]
    kind, name = _kind(node)
    return [Statement(kind, name, text, node, first, last)]


def _import_code(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    one = ast.Import([alias])
    if isinstance(node, ast.Import):
        return ast.unparse(one)
    return ast.unparse(ast.ImportFrom(node.module, [alias], node.level))


def _kind(node: ast.stmt) -> tuple[str, str]:
    if isinstance(node, _DEFINITIONS):
        return DEFINITION, node.name
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        return ASSIGNMENT, ast.unparse(node.targets[0])
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        return ASSIGNMENT, ast.unparse(node.target)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.lineno == 1:
        return TITLE, str(node.value.value)
    return OTHER, ast.unparse(node)
