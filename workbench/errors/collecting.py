"""Collects the errors in the source of this package: texts that are raised, noted or recorded."""

from __future__ import annotations

import ast
import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

PACKAGE = Path(__file__).parent.parent
VALUE = "…"
"""What stands in a text for a value that is known only when the error happens."""
MOST = 32
"""The most texts of one expression, and the most ways through one function."""
Texts = tuple[str, ...]
Names = dict[str, Texts]
"""The texts that each name can stand for."""
Error = tuple[ast.expr, ast.expr, ast.expr]
"""The field, the text and the remedy. What an error has not is an empty text."""
Found = tuple[Path, str, str, str]
"""The file, the field or an empty text, what is wrong or must be so, and the remedy or an empty
text."""
_MAY_HAVE_ERRORS = re.compile(r'raise \w+\(|Problem\(|\.add\(|"fix"')
_OF_FIELDS = ("ScriptError", "UnreadableError")
"""Errors with three arguments whose rule completes "... must be"."""
_NOTHING = ast.Constant("")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_INSIDE = (ast.stmt, ast.ExceptHandler)


def collect() -> Iterator[Found]:
    """Yield the errors of all modules, by path."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if _MAY_HAVE_ERRORS.search(path.read_text(encoding="utf-8")):
            for field, text, fix in dict.fromkeys(_module(path).errors()):
                yield path.relative_to(PACKAGE), field, text, fix


@functools.cache
def _module(path: Path) -> _Module:
    return _Module(path)


class _Module:
    """The texts of a module's constants and functions, and its errors."""

    def __init__(self, path: Path) -> None:
        self._nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        body = self._nodes[0].body if isinstance(self._nodes[0], ast.Module) else []
        self._functions = {each.name: each for each in body if isinstance(each, ast.FunctionDef)}
        self._values = {
            each.targets[0].id: each.value
            for each in body
            if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)
        }
        self._imports = {
            name.asname or name.name: (source, name.name)
            for node in self._nodes
            if isinstance(node, ast.ImportFrom) and (source := _source(path, node)).is_file()
            for name in node.names
        }

    def errors(self) -> Iterator[tuple[str, ...]]:
        """Yield the field, the text and the remedy of each error in this module's functions."""
        for node in self._nodes:
            if isinstance(node, _FUNCTIONS) and any(map(_error_in, ast.walk(node))):
                ways = _Ways(self)
                ways.follow(node.body, [{}])
                yield from ways.errors

    def texts(self, node: ast.expr, names: Names) -> Texts:
        """Return the texts that an expression can have."""
        found: Iterable[str] = (VALUE,)
        match node:
            case ast.Constant(value=value):
                found = (str(value),)
            case ast.FormattedValue(value=inner):
                found = self.texts(inner, names)
            case ast.JoinedStr(values=parts):
                found = self._joined(parts, names)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                found = self._joined((left, right), names)
            case ast.IfExp(body=body, orelse=orelse):
                found = self.texts(body, names) + self.texts(orelse, names)
            case ast.Name(id=name):
                found = names.get(name) or self._constant(name)
            case ast.Call(func=ast.Name(id=name), args=arguments):
                found = self._returned(name, tuple(self.texts(each, names) for each in arguments))
        return tuple(dict.fromkeys(found))[:MOST]

    def _joined(self, nodes: Iterable[ast.expr], names: Names) -> Iterator[str]:
        parts = [self.texts(node, names) for node in nodes]
        return itertools.islice(map("".join, itertools.product(*parts)), MOST)

    def _constant(self, name: str) -> Texts:
        if name in self._imports:
            path, name = self._imports[name]
            return _module(path)._constant(name)
        return self.texts(self._values[name], {}) if name in self._values else (VALUE,)

    @functools.cache  # noqa: B019 (modules are kept for as long as the program runs)
    def _returned(self, name: str, arguments: tuple[Texts, ...]) -> Texts:
        if name in self._imports:
            path, name = self._imports[name]
            return _module(path)._returned(name, arguments)
        if name not in self._functions:
            return (VALUE,)
        function, ways = self._functions[name], _Ways(self)
        names = (each.arg for each in function.args.args)
        ways.follow(function.body, [dict(zip(names, arguments, strict=False))])
        return tuple(ways.returned) or (VALUE,)


def _source(path: Path, node: ast.ImportFrom) -> Path:
    """Return the file of the module that is imported from. The file may not exist."""
    base = path.parents[node.level - 1] if node.level else PACKAGE.parent
    found = base.joinpath(*filter(None, (node.module or "").split(".")))
    return found / "__init__.py" if found.is_dir() else found.with_suffix(".py")


class _Ways:
    """The ways through a function, each with the texts of its names; and the errors on them."""

    def __init__(self, module: _Module) -> None:
        self._module = module
        self.errors: list[tuple[str, ...]] = []
        self.returned: list[str] = []

    def follow(self, body: Sequence[ast.stmt], ways: list[Names]) -> list[Names]:
        """Follow statements, and return the ways that arrive at their end."""
        for node in body:
            for names, error in itertools.product(ways, _errors_at(node)):
                texts = (self._module.texts(part, names) for part in error)
                self.errors += itertools.product(*texts)
            ways = self._after(node, ways)
            ways = list({repr(sorted(names.items())): names for names in ways}.values())[:MOST]
        return ways

    def _after(self, node: ast.stmt, ways: list[Names]) -> list[Names]:
        """Return the ways after a statement, of those before it."""
        match node:
            case ast.Assign(targets=[target], value=value):
                ways = self._bound(target, value, ways)
            case ast.Return() | ast.Raise() | ast.Continue() | ast.Break():
                if isinstance(node, ast.Return) and node.value is not None:
                    for names in ways:
                        self.returned += self._module.texts(node.value, names)
                ways = []
            case ast.If(body=body, orelse=orelse):
                ways = self.follow(body, ways) + self.follow(orelse, ways)
            case ast.For(target=target, iter=rows, body=body):
                each = rows.elts if isinstance(rows, ast.Tuple) else [rows]
                inside = (self._bound(target, row, ways) for row in each)
                ways = ways + self.follow(body, list(itertools.chain(*inside)))
            case ast.While(body=body):
                ways = ways + self.follow(body, ways)
            case ast.With(body=body) | ast.AsyncWith(body=body):
                ways = self.follow(body, ways)
            case ast.Try(body=body, handlers=handlers, finalbody=finalbody):
                ends = [self.follow(part, ways) for part in (body, *(h.body for h in handlers))]
                ways = self.follow(finalbody, list(itertools.chain(*ends)))
        return ways

    def _bound(self, target: ast.expr, value: ast.expr, ways: list[Names]) -> list[Names]:
        """Return the ways after an assignment: one for each text. Names set together correspond."""
        match target, value:
            case ast.Tuple(), ast.IfExp(body=body, orelse=orelse):
                return self._bound(target, body, ways) + self._bound(target, orelse, ways)
            case ast.Tuple(elts=targets), ast.Tuple(elts=values):
                for each, part in zip(targets, values, strict=False):
                    ways = self._bound(each, part, ways)
            case ast.Name(id=name), _:
                ways = [
                    {**names, name: (text,)}
                    for names in ways
                    for text in self._module.texts(value, names)
                ]
        return ways


@functools.cache
def _errors_at(node: ast.stmt) -> list[Error]:
    """Return the errors in a statement itself, not in the statements inside it."""
    parts = [each for each in ast.iter_child_nodes(node) if not isinstance(each, _INSIDE)]
    found = map(_error_in, itertools.chain([node], *map(ast.walk, parts)))
    return [error for error in found if error]


def _error_in(node: ast.AST) -> Error | None:
    """Return the error that this expression or statement makes; None if it makes none."""
    match node:
        case ast.Raise(exc=ast.Call(args=[text])):
            return _NOTHING, text, _NOTHING
        case ast.Raise(exc=ast.Call(args=[ast.Constant(value=int()), text, *_])):
            return _NOTHING, text, _NOTHING
        case ast.Raise(exc=ast.Call(func=ast.Name(id=error), args=[rule, _, fix])):
            return ast.Constant(VALUE if error in _OF_FIELDS else ""), rule, fix
        case ast.Call(args=[field, rule, _, fix], func=function):
            if getattr(function, "attr", "") == "add" or getattr(function, "id", "") == "Problem":
                return field, rule, fix
        case ast.Dict(keys=keys, values=values):
            given = {getattr(key, "value", None): at for at, key in enumerate(keys)}
            if "cause" in given and "fix" in given:
                return _NOTHING, values[given["cause"]], values[given["fix"]]
    return None
