"""The user's own functions of a script, as texts for separate files."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from ..codegen.lifting import lift, merge_imports
from ..plan.names import script_names
from ..plan.own_function import SCRIPT_NAMES, OwnFunction
from ..syntax import own_name, parse, renamed
from .parts import ASSIGNMENT, DEFINITION, IMPORT, Parts, ScriptError, Statement

CHECKS = {
    "data": ("as_arrays", "check_data"),
    "model": ("one_example", "check_model"),
    "step": ("check_step",),
}
"""The definitions below the user's own function in a script, by field."""
READ_FILE = "read_file"
"""The function by which `make_data` reads a data set's files; it stands below the marker."""
LIVE = frozenset({"EPOCHS", "STEPS_PER_EPOCH", "PER_REPLICA_BATCH_SIZE", "make_optimizer"})
"""Names in every script that can take a user's model: an edited function may go on using them."""
Key = tuple[str, str]


@dataclass(frozen=True)
class Kept:
    """A function of a script for a field of the form, as the text of a file."""

    field: str
    function: str
    source: str
    statements: frozenset[Key]
    """The statements of the script that it holds."""
    renamed: tuple[str, ...] = ()
    """Names that scripts already use; for them this text uses their `own_name`."""


def user_function(parts: Parts, field: str) -> OwnFunction | None:
    """Return the user's own function that the script calls for a field; None if there is none."""
    check, name = f"check_{field}", SCRIPT_NAMES[field]
    if parts.definition(check) is None:
        return None
    outside, inside = parts.assignment(name), parts.definition(name)
    if outside is not None:
        call = getattr(outside.node, "value", None)
        arguments = call.args if isinstance(call, ast.Call) else []
        function = arguments[1] if len(arguments) > 1 else None
        return OwnFunction(function.id, None, "") if isinstance(function, ast.Name) else None
    return _called(inside.node, check) if inside is not None else None


def _called(node: ast.AST, check: str) -> OwnFunction | None:
    calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
    names = [
        call.args[0].id
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id == check
        if call.args and isinstance(call.args[0], ast.Name)
    ]
    if not names:
        return None
    imports = [each for each in ast.walk(node) if isinstance(each, ast.ImportFrom)]
    module = imports[0].module if imports else None
    return OwnFunction(names[0], module, None if module else "")


def keep_own(
    parts: Parts, ours: Parts, field: str, function: str, before: Collection[Kept]
) -> Kept:
    """Return the text of a function that came into the script from a user's file.

    `ours` is the workbench's script without this function. `before` holds the user's other
    functions above it.
    """
    region = _region(parts, ours, field)
    needed = region
    if before:
        held = frozenset().union(*(each.statements for each in before))
        others = [each for each in parts.body if each.key in held]
        needed = [*closure(others, _read(region) | {function}), *region]
    more = closure(_extra(parts, ours, needed), _read(needed))
    body = parts.region(region[0], region[-1]) if region else ""
    above = [each for each in needed if each not in region]
    text = "\n\n\n".join(filter(None, ["\n\n".join(e.text for e in (*above, *more)), body]))
    imports = [each for each in parts.body if each.kind == IMPORT]
    used = [*_used(imports, text), *(each for each in imports if each.key not in ours.by_key)]
    source = f"{_merged(used)}\n\n\n{text}\n"
    return Kept(field, function, source, frozenset(e.key for e in (*needed, *more)))


def keep_edited(parts: Parts, field: str, left: Collection[str] = ()) -> Kept:
    """Return the text of a workbench function that was edited, with everything that it uses.

    Names of `left` that every script has are not copied: the function goes on using them.
    """
    function = SCRIPT_NAMES[field]
    read = reader(parts)
    stands = [each for each in (*parts.body, *read) if each.kind in (DEFINITION, ASSIGNMENT)]
    taken = closure([each for each in stands if each.name not in LIVE & set(left)], {function})
    text = _joined(taken)
    scripts = script_names()
    bound = {each.name for each in taken} - {function}
    names = {name: own_name(name) for name in sorted(bound) if name in scripts}
    try:
        text = renamed(text, names)
    except ValueError as error:
        rule = "code whose names do not clash with names that every script has"
        fix = f"Rename {', '.join(names)} in the script by hand, also inside quoted text."
        raise ScriptError(rule, str(error), fix) from None
    imports = (*parts.body, *(parts.shared if READ_FILE in bound else ()))
    used = _used([each for each in imports if each.kind == IMPORT], text)
    source = f"{_merged(used)}\n\n\n{text}\n"
    return Kept(field, function, source, frozenset(e.key for e in taken), tuple(names))


def reader(parts: Parts) -> list[Statement]:
    """Return the statements that read the files of the script's data set; none if it has none."""
    return closure(parts.shared, {READ_FILE})


def closure(available: Sequence[Statement], wanted: Collection[str]) -> list[Statement]:
    """Return the available statements that bind the names, or names that these read, in order."""
    names, taken = set(wanted), set[Key]()
    while more := [each for each in available if each.name in names and each.key not in taken]:
        taken |= {each.key for each in more}
        names |= _read(more)
    return [each for each in available if each.key in taken]


def _region(parts: Parts, ours: Parts, field: str) -> list[Statement]:
    """Return the statements directly above a field's check that the workbench did not write."""
    stands = [each for each in parts.body if each.kind != IMPORT]
    at = next((n for n, each in enumerate(stands) if each.name in CHECKS[field]), 0)
    first = at
    while first and stands[first - 1].key not in ours.by_key:
        first -= 1
    return stands[first:at]


def _extra(parts: Parts, ours: Parts, taken: Iterable[Statement]) -> list[Statement]:
    """Return other definitions and assignments that the workbench did not write."""
    keys = {each.key for each in taken} | ours.by_key.keys()
    return [e for e in parts.body if e.kind in (DEFINITION, ASSIGNMENT) and e.key not in keys]


def _read(statements: Iterable[Statement]) -> set[str]:
    nodes = (node for each in statements for node in ast.walk(each.node))
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def _used(imports: Iterable[Statement], text: str) -> list[Statement]:
    """Return the imports whose names a text reads."""
    read = {node.id for node in ast.walk(parse(text)) if isinstance(node, ast.Name)}
    return [each for each in imports if _bound_by(each) in read]


def _merged(imports: Iterable[Statement]) -> str:
    codes = dict.fromkeys(each.code for each in imports)
    return merge_imports([lift("\n".join(codes))])


def _bound_by(statement: Statement) -> str:
    alias = getattr(statement.node, "names", None)
    if alias is None:
        return ""
    node = parse(statement.code).body[0]
    assert isinstance(node, ast.Import | ast.ImportFrom)
    return node.names[0].asname or node.names[0].name.split(".")[0]


def _joined(statements: Sequence[Statement]) -> str:
    """Return the texts with the blank lines of formatters: around functions, not in constants."""
    text = ""
    for before, each in zip([None, *statements], statements, strict=False):
        apart = before is None or DEFINITION in (each.kind, before.kind)
        text += ("" if before is None else "\n\n\n" if apart else "\n") + each.text
    return text
