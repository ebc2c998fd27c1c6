"""One's own model by `module:function` or `file.py:function`: found, read, checked as text."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from .problems import Findings


@dataclass(frozen=True)
class OwnModel:
    """A function of the user's that makes a model: lifted from a file, or imported by name."""

    function: str
    module: str | None
    """Imported from there; None where `source` is lifted."""
    source: str | None
    """The whole text of the file; None where it is imported."""


def read_own_model(findings: Findings, address: str) -> OwnModel | None:
    """Find what `module:function` or `file.py:function` names, or note why it cannot be used."""
    where, _, function = address.rpartition(":")
    if not function.isidentifier() or not where:
        rule = "module:function or file.py:function"
        findings.add("model", rule, address, "Write, for example, my_models.py:build_model.")
        return None
    if where.endswith(".py"):
        return _from_file(findings, Path(where).expanduser(), function)
    if not all(part.isidentifier() for part in where.split(".")):
        rule = "a module's dotted name before the colon"
        findings.add("model", rule, where, "Write, for example, my_package.models:build_model.")
        return None
    return OwnModel(function, module=where, source=None)


def _from_file(findings: Findings, path: Path, function: str) -> OwnModel | None:
    try:
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
    except (OSError, UnicodeDecodeError) as error:
        findings.add("model", "a file that can be read", path, f"Mend the path: {error}.")
        return None
    except SyntaxError as error:
        got = f"{path}, line {error.lineno}: {error.msg}"
        findings.add("model", "a file of valid Python", got, "Mend that line.")
        return None
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    if function not in functions:
        has = ", ".join(functions) or "no function"
        fix = f"It has {has}. Name one of them." if functions else "Define one there."
        findings.add("model", f"a function of {path.name}", function, fix)
        return None
    _check_liftable(findings, path, tree)
    return OwnModel(function, module=None, source=source)


def _check_liftable(findings: Findings, path: Path, tree: ast.Module) -> None:
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level:
            fix = f"Give it as package.{path.stem}:function, from where the package is importable."
            findings.add("model", "no relative import in a lifted file", path, fix)
        if isinstance(node, ast.If) and "__name__" in ast.unparse(node.test):
            fix = "Move the function to a file of its own, or give it as module:function."
            findings.add("model", "no __main__ block in a lifted file", path, fix)
