"""The differences between a script and the workbench's script for its config, in words."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from .own import Kept, Key, reader
from .parts import ASSIGNMENT, DEFINITION, IMPORT, TITLE, Parts, Statement
from .reference import Reference
from .values import FIELD_OF, plain_fields

KEPT, VALUE, CODE, RECORDER, WORDS, WRONG = "kept", "value", "code", "recorder", "words", "wrong"
_WHAT = {
    "make_strategy": "the strategy",
    "make_batches": "the input pipeline",
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
class Told:
    """One difference, in a sentence."""

    kind: str
    name: str
    words: str
    lost: bool = False
    """Whether only the script holds it, so that the form's own script would lose it."""


def tell(parts: Parts, made: Reference, kept: Mapping[str, Kept]) -> tuple[Told, ...]:
    """Return the differences in reading order: kept functions first, the recorder last."""
    held = {key for each in kept.values() for key in each.statements}
    readers = (*reader(parts), *reader(made.parts)) if "data" in kept else ()
    return (
        *(_kept(each) for each in kept.values()),
        *(_wrong(parts, name) for name in made.dropped),
        *(e for e in _above(parts, made.parts, held) if FIELD_OF.get(e.name) not in made.dropped),
        *_imports(parts, made.parts, kept.values()),
        *_words(parts, made.parts, held),
        *_recorder(parts, made.parts, {each.key for each in readers}),
    )


def sentences(told: Collection[Told]) -> list[str]:
    """Return the differences as complete sentences."""
    return [f"{each.name} {each.words}" for each in told]


def _kept(kept: Kept) -> Told:
    others = sorted(name for _, name in kept.statements if name != kept.function)
    along = f", with {', '.join(others)}" if others else ""
    called = ", ".join(f"{name} is {kept.name_of(name)}" for name in kept.renamed)
    otherwise = f" What scripts have already is called otherwise there: {called}." if called else ""
    words = f"is your own function for {kept.field} now, in a file of its own{along}.{otherwise}"
    return Told(KEPT, kept.function, words)


def _wrong(parts: Parts, field: str) -> Told:
    value = plain_fields(parts).get(field)
    words = f"is {value!r} in the script, which no plan can have. Fix it in the form."
    return Told(WRONG, field, words)


def _above(parts: Parts, ours: Parts, held: Collection[Key]) -> Iterator[Told]:
    for statement in parts.above:
        known = ours.by_key.get(statement.key)
        if statement.kind in (IMPORT, TITLE) or statement.key in held:
            continue
        if known is None:
            yield Told(
                CODE, _shown(statement), "is not the workbench's, and no field holds it.", True
            )
        elif not known.means(statement):
            yield _differs(statement, known)
    for known in ours.above:
        if known.kind not in (IMPORT, TITLE) and known.key not in parts.by_key:
            yield Told(CODE, _shown(known), "is missing: the form's own script has it.", True)


def _differs(statement: Statement, known: Statement) -> Told:
    if statement.kind == ASSIGNMENT:
        value, plans = (each.code.partition(" = ")[2] for each in (statement, known))
        words = f"is {_short(value)} in the script; the form makes it {_short(plans)}."
        return Told(VALUE, statement.name, words, True)
    what = _WHAT.get(statement.name, "a part of the script")
    return Told(CODE, statement.name, f"was edited: {what}. No field holds that.", True)


def _imports(parts: Parts, ours: Parts, kept: Collection[Kept]) -> Iterator[Told]:
    taken = "\n".join(each.source for each in kept)
    for statement in parts.above:
        if statement.kind == IMPORT and statement.key not in ours.by_key:
            alias = statement.name.split()[-1]
            if alias not in taken:
                yield Told(
                    CODE, statement.name, "is not the workbench's, and nothing kept uses it.", True
                )


def _words(parts: Parts, ours: Parts, held: Collection[Key]) -> Iterator[Told]:
    """Yield the difference in comments and layout: only the script has it; it changes nothing."""
    differing = [
        each.name
        for each in parts.above
        if each.kind == DEFINITION and each.key not in held
        if (known := ours.by_key.get(each.key)) is not None
        if known.text != each.text and known.means(each)
    ]
    if differing:
        words = "differ in comments or layout alone, which stay in the script."
        yield Told(WORDS, ", ".join(differing), words)


def _recorder(parts: Parts, ours: Parts, apart: Collection[Key]) -> Iterator[Told]:
    theirs, mine = (
        {each.key: each for each in below if each.kind != IMPORT and each.key not in apart}
        for below in (parts.below, ours.below)
    )
    differing = [
        key[1]
        for key in {**mine, **theirs}
        if key not in mine or key not in theirs or not mine[key].means(theirs[key])
    ]
    if not differing:
        return
    names = ", ".join(_short(name) for name in differing[:4])
    words = (
        f"({names}) is not this release's: run as it is, the script may record less than is shown "
        "here. The form's own script has this release's recorder."
    )
    yield Told(RECORDER, "The recorder", words, True)


def _shown(statement: Statement) -> str:
    return statement.name if statement.kind == DEFINITION else _short(statement.code)


def _short(code: str) -> str:
    line = " ".join(code.split())
    return line if len(line) <= 60 else f"{line[:57]}..."
