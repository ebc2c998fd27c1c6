"""Tests of the commands that texts offer to be pasted: each value in them is quoted for a shell."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "workbench"
OURS = "bundle|compare|detect|environment|evaluate|export|run|runs|scale|script|why"
BEFORE = re.compile(rf"(workbench ({OURS})\b[\w -]*|python|--logdir|unzip -p) $")
"""The end of a text after which a value is a word of a command."""
AFTER = re.compile(r" -m (pip|venv|workbench)\b")
"""The start of a text before which a value is the program of a command."""


def unquoted(source: str) -> Iterator[str]:
    """Yield the values that a file puts into its commands without `shlex`."""
    tree = ast.parse(source)
    quoted = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and "shlex." in ast.unparse(node.value)
        for target in ast.walk(ast.Tuple(node.targets, ast.Store()))
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            ends = ast.Constant("")
            parts = [ends, *node.values, ends]
            for before, value, after in zip(parts, parts[1:], parts[2:], strict=False):
                if isinstance(value, ast.FormattedValue) and in_command(before, after):
                    name = ast.unparse(value.value)
                    if "shlex." not in name and name not in quoted:
                        yield name


def in_command(before: ast.expr, after: ast.expr) -> bool:
    """Return whether the value between two parts of an f-string is a word of a command."""
    return bool(BEFORE.search(text_of(before)) or AFTER.match(text_of(after)))


def text_of(part: ast.expr) -> str:
    return str(part.value) if isinstance(part, ast.Constant) else ""


def test_each_value_in_a_command_is_quoted() -> None:
    found = {
        f"{path.relative_to(PACKAGE)}: {value}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for value in unquoted(path.read_text(encoding="utf-8"))
    }
    assert found == set()


def test_an_unquoted_value_is_found() -> None:
    planted = 'f"Run it: workbench runs resume {folder} or {python} -m pip install it"'
    assert list(unquoted(planted)) == ["folder", "python"]
    assert list(unquoted('f"Run it: python {shlex.quote(str(path))}"')) == []
