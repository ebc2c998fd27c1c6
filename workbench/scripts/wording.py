"""The differences between a script and the workbench's script for its config, in words."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from ..syntax import own_name
from .own import Kept, Key, reader
from .parts import ASSIGNMENT, DEFINITION, IMPORT, TITLE, Parts, Statement
from .reference import Reference
from .values import FIELD_OF, plain_fields

KEPT, VALUE, CODE, RECORDER, LAYOUT, WRONG = "kept", "value", "code", "recorder", "words", "wrong"
_WHAT = {
    "make_strategy": "the strategy",
    "make_batches": "the input pipeline",
    "shuffled_batches": "the order of examples",
    "shuffled_rows": "the order of examples",
    "make_steps": "the training step",
    "compile_by_xla": "what XLA compiles",
    "make_loops": "the loop",
    "main": "what the script does from start to end",
    "make_optimizer": "the optimizer",
    "make_model": "the model",
    "make_data": "the data",
}


@dataclass(frozen=True)
class Difference:
    """One difference, in a sentence."""

    kind: str
    name: str
    text: str
    lost: bool = False
    """Whether only the script holds it, so that the form's own script would lose it."""


def differences(parts: Parts, made: Reference, kept: Mapping[str, Kept]) -> tuple[Difference, ...]:
    """Return the differences in reading order: kept functions first, the recorder last."""
    held = {key for each in kept.values() for key in each.statements}
    readers = (*reader(parts), *reader(made.parts)) if "data" in kept else ()
    return (
        *(_kept(each) for each in kept.values()),
        *(_wrong(parts, name) for name in made.dropped),
        *(e for e in _body(parts, made.parts, held) if FIELD_OF.get(e.name) not in made.dropped),
        *_imports(parts, made.parts, kept.values()),
        *_layout(parts, made.parts, held),
        *_recorder(parts, made.parts, {each.key for each in readers}),
    )


def sentences(differing: Collection[Difference]) -> list[str]:
    """Return the differences as complete sentences."""
    return [f"{each.name} {each.text}" for each in differing]


def _kept(kept: Kept) -> Difference:
    others = sorted(name for _, name in kept.statements if name != kept.function)
    along = f", with {', '.join(others)}" if others else ""
    called = ", ".join(f"{name} is now {own_name(name)}" for name in kept.renamed)
    otherwise = f" Clashing names are renamed: {called}." if called else ""
    text = f"is now your own function for {kept.field}, in a separate file{along}.{otherwise}"
    return Difference(KEPT, kept.function, text)


def _wrong(parts: Parts, field: str) -> Difference:
    value = plain_fields(parts).get(field)
    text = f"is {value!r} in the script; no plan can use this value. Fix it in the form."
    return Difference(WRONG, field, text)


def _body(parts: Parts, ours: Parts, held: Collection[Key]) -> Iterator[Difference]:
    for statement in parts.body:
        known = ours.by_key.get(statement.key)
        if statement.kind in (IMPORT, TITLE) or statement.key in held:
            continue
        if known is None:
            yield Difference(
                CODE, _shown(statement), "is not from the workbench, and no field covers it.", True
            )
        elif not known.means(statement):
            yield _differs(statement, known)
    for known in ours.body:
        if known.kind not in (IMPORT, TITLE) and known.key not in parts.by_key:
            yield Difference(CODE, _shown(known), "is missing: the form's own script has it.", True)


def _differs(statement: Statement, known: Statement) -> Difference:
    if statement.kind == ASSIGNMENT:
        value, plans = (each.code.partition(" = ")[2] for each in (statement, known))
        text = f"is {_short(value)} in the script; the form makes it {_short(plans)}."
        return Difference(VALUE, statement.name, text, True)
    what = _WHAT.get(statement.name, "a part of the script")
    return Difference(CODE, statement.name, f"was edited: {what}. No field covers this edit.", True)


def _imports(parts: Parts, ours: Parts, kept: Collection[Kept]) -> Iterator[Difference]:
    taken = "\n".join(each.source for each in kept)
    for statement in parts.body:
        if statement.kind == IMPORT and statement.key not in ours.by_key:
            alias = statement.name.split()[-1]
            if alias not in taken:
                yield Difference(
                    CODE,
                    statement.name,
                    "is not from the workbench, and no kept code uses it.",
                    True,
                )


def _layout(parts: Parts, ours: Parts, held: Collection[Key]) -> Iterator[Difference]:
    """Yield the difference in comments and layout: only the script has it; it changes nothing."""
    differing = [
        each.name
        for each in parts.body
        if each.kind == DEFINITION and each.key not in held
        if (known := ours.by_key.get(each.key)) is not None
        if known.text != each.text and known.means(each)
    ]
    if differing:
        text = "differ only in comments or layout, which stay in the script."
        yield Difference(LAYOUT, ", ".join(differing), text)


def _recorder(parts: Parts, ours: Parts, apart: Collection[Key]) -> Iterator[Difference]:
    theirs, mine = (
        {each.key: each for each in shared if each.kind != IMPORT and each.key not in apart}
        for shared in (parts.shared, ours.shared)
    )
    differing = [
        key[1]
        for key in {**mine, **theirs}
        if key not in mine or key not in theirs or not mine[key].means(theirs[key])
    ]
    if not differing:
        return
    names = ", ".join(_short(name) for name in differing[:4])
    text = (
        f"({names}) is not from this release: if the script runs as it is, it may record less than "
        "the workbench shows. The form's own script has this release's recorder."
    )
    yield Difference(RECORDER, "The recorder", text, True)


def _shown(statement: Statement) -> str:
    return statement.name if statement.kind == DEFINITION else _short(statement.code)


def _short(code: str) -> str:
    line = " ".join(code.split())
    return line if len(line) <= 60 else f"{line[:57]}..."
