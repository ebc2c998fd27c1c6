"""The user's request: one frozen dataclass, to and from JSON, with no checks except types."""

from __future__ import annotations

import dataclasses
import functools
import json
import numbers
import os
import re
import traceback
import types
import typing
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from .fields import (
    DeviceFields,
    InputFields,
    LauncherFields,
    RecipeFields,
    StartFields,
    TrainingFields,
)

CONFIG_VERSION = 1
SCHEMA = "$schema"
"""The name in a JSON file by which editors find its schema."""
_OF_PACKAGES = re.compile(rf"site-packages|dist-packages|^{re.escape(str(Path(__file__).parent))}")
"""The files of this package and of installed ones, in a traceback."""


@dataclass(frozen=True)
class Problem:
    """The problem of one field, in words that complete "FIELD must be ..."."""

    field: str
    rule: str
    got: str
    fix: str

    def __str__(self) -> str:
        return f"{self.field} must be {self.rule}; got {self.got}. {self.fix}"


class ConfigError(ValueError):
    """A config that cannot be used, with every problem found in it."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows: the caller's own frames, then the problems."""
        frames = traceback.extract_tb(self.__traceback__)
        own = [frame for frame in frames if not _OF_PACKAGES.search(frame.filename)]
        return [*map(str.rstrip, traceback.format_list(own)), f"{type(self).__name__}: {self}"]


@dataclass(frozen=True, kw_only=True)
class RunConfig(
    # A dataclass has the fields of its last base first.
    StartFields, LauncherFields, RecipeFields, InputFields, DeviceFields, TrainingFields
):  # fmt: skip
    """Everything that defines a run. `None` means that the plan chooses and shows its choice.

    `fields.py` says what each field means. The flags of the command line and the fields of the form
    have the names of these fields, so a problem that names a field can be shown next to it. NumPy's
    numbers, paths and lists of device names become plain values.

    Raises:
        ConfigError: values have a wrong type; the error holds all of them.
    """

    def __post_init__(self) -> None:
        problems = []
        for name, kinds in field_types().items():
            given = getattr(self, name)
            if given is getattr(RunConfig, name):  # a default has its field's type
                continue
            try:
                object.__setattr__(self, name, plain(given, kinds))
            except (TypeError, OverflowError):
                fix = f"Set {name} to {_example(name, kinds)}, for example."
                problems.append(Problem(name, type_name(kinds), shown(given), fix))
        if problems:
            raise ConfigError(problems)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values with the format's version first."""
        return {"version": CONFIG_VERSION, **json.loads(json.dumps(dataclasses.asdict(self)))}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> RunConfig:
        """Return the config that `to_json` wrote.

        Raises:
            ConfigError: no JSON object, a newer version, unknown fields, or values of a wrong type.
        """
        return cls(**fields_in(values))


def field_types() -> dict[str, tuple[Any, ...]]:
    """Return each field's name, and the types that its value can have."""
    return types_of(RunConfig)


@functools.cache
def types_of(kind: type) -> dict[str, tuple[Any, ...]]:
    """Return the name of each field of a dataclass, and the types that its value can have."""
    return {
        name: typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
        for name, hint in typing.get_type_hints(kind).items()
    }


def fields_in(values: object) -> dict[str, Any]:
    """Return the fields of a config in JSON; their types are not yet checked.

    Raises:
        ConfigError: no JSON object, a newer version, or unknown fields.
    """
    if not isinstance(values, dict):
        fix = 'Write it as {"version": 1, ...}.'
        raise ConfigError([Problem("config", "a JSON object", shown(values), fix)])
    version = values.get("version", CONFIG_VERSION)
    if type(version) is not int or not 1 <= version <= CONFIG_VERSION:
        fix = (
            f"Install the release that wrote it, or set the version to {CONFIG_VERSION} and remove "
            "the fields that this release does not know."
        )
        rule = f"{CONFIG_VERSION}, the version that this release reads"
        raise ConfigError([Problem("version", rule, shown(version), fix)])
    given = {name: value for name, value in values.items() if name not in ("version", SCHEMA)}
    unknown = [name for name in given if name not in field_types()]
    if unknown:
        raise ConfigError(
            Problem(
                name,
                "a field of a config",
                "an unknown name",
                did_you_mean(name, field_types(), "Remove it."),
            )
            for name in unknown
        )
    return given


def did_you_mean(name: str, known: Iterable[str], otherwise: str) -> str:
    """Return a sentence that offers the nearest known name; `otherwise` if no name is near."""
    by_lower = {each.lower(): each for each in known}
    close = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)
    return f"Did you mean {by_lower[close[0]]}?" if close else otherwise


def plain(value: Any, kinds: tuple[Any, ...]) -> Any:
    """Return the value as one of these types, each of which JSON can hold.

    Raises:
        TypeError: it has another type.
        OverflowError: a number is too large.
    """
    for own in kinds:
        kind, read = _KINDS[own]
        if isinstance(value, kind) and (own is bool or not isinstance(value, bool)):
            return read(value)
    raise TypeError


def _text(value: Any) -> str:
    text = str(os.fspath(value))
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise TypeError from error
    return text


def _names(value: Any) -> tuple[str, ...]:
    if not all(isinstance(item, str) for item in value):
        raise TypeError
    return tuple(map(_text, value))


_KINDS: dict[Any, tuple[Any, Any]] = {
    type(None): (type(None), lambda _: None),
    bool: (bool, bool),
    int: (numbers.Integral, int),
    float: (numbers.Real, float),
    str: (str | os.PathLike, _text),
    tuple[str, ...]: (list | tuple, _names),
}
_TYPE_NAMES = {
    type(None): "None",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    tuple[str, ...]: "a list of names",
}


def type_name(kinds: tuple[Any, ...]) -> str:
    """Return types in words, such as `a whole number or None`."""
    return " or ".join(_TYPE_NAMES[kind] for kind in kinds)


_EXAMPLES: dict[Any, Any] = {int: 2, float: 0.5, str: "text", tuple[str, ...]: ["CPU:0"]}


def _example(name: str, kinds: tuple[Any, ...]) -> str:
    """Return a value of the field as JSON: its default, or any value of its type."""
    default = getattr(RunConfig, name)
    return json.dumps(_EXAMPLES[kinds[0]] if default is None else default)


def shown(value: object) -> str:
    """Return a value as it is written in Python, cut if it is long."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


USUAL = RunConfig()
"""The config in which every field has its default."""
