"""The capture of a function, with everything that it uses, as one text."""

from __future__ import annotations

import builtins
import io
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from ..config import ConfigError, Problem
from .home import home_of
from .literals import (
    MAX_CHARACTERS,
    array_assignment,
    assignment,
    is_plain,
    is_small_array,
    plain_number,
)
from .sources import OF_NOTEBOOKS, definition_of, import_of, names_from_outside, plain_function

FEW_NUMBERS = 20
TIMED = "<timed"
"""The start of the file name of code in a cell with %%time; IPython keeps no text of it."""
RULE = "a function that stands alone: code, imports and plain values"


@dataclass(frozen=True)
class Captured:
    """A function with everything that it uses, as the text of a separate file."""

    function: str
    source: str


def capture(function: Callable[..., Any], field: str = "model") -> Captured:
    """Return the text of a notebook's function with its imports, constants and helpers.

    Constants have their present values. Nothing is executed.

    Args:
        function: a `def` at the top level of a cell; it may have decorators.
        field: the field of the config that problems name.

    Raises:
        ConfigError: the function uses values that cannot be captured; each has its fix.
    """
    home = home_of(function, field)
    walk = _Walk(home.name, home.namespace, field)
    walk.take(home.name, function, home.name)
    if walk.problems:
        raise ConfigError(walk.problems)
    return Captured(home.name, walk.text())


class _Walk:
    """One walk from a function over the names that it uses, each taken once."""

    def __init__(self, function: str, namespace: Mapping[str, Any], field: str) -> None:
        self._function, self._namespace, self._field = function, namespace, field
        self._seen: set[str] = set()
        self._imports: dict[str, None] = {}
        self._constants: list[str] = []
        self._definitions: list[str] = []
        self.problems: list[Problem] = []

    def take(self, name: str, value: Any, user: str) -> None:
        """Take the value of a name that `user` uses, after everything that the value uses."""
        self._seen.add(name)
        value = plain_number(value)
        if self._is_typed_here(value):
            self._define(name, value)
        elif imports := import_of(name, value, self._namespace):
            self._imports.update(dict.fromkeys(imports))
        elif is_plain(value):
            self._assign(name, assignment(name, value), user)
        elif is_small_array(value):
            self._assign_array(name, value, user)
        else:
            self._refuse(name, f"{name}, {_kind(value)}", _instead(value, user))

    def text(self) -> str:
        """Return imports, constants and definitions, each below everything that it needs."""
        heads = ["\n".join(lines) for lines in (sorted(self._imports), self._constants) if lines]
        return "\n\n\n".join(["\n\n".join(heads), *self._definitions]).strip() + "\n"

    def _is_typed_here(self, value: Any) -> bool:
        if isinstance(value, type):
            return value.__module__ == self._namespace.get("__name__")
        function = plain_function(value)
        return function is not None and function.__globals__ is self._namespace

    def _define(self, name: str, value: Any) -> None:
        text = self._own_text(name, value)
        if text is None:
            return
        for used in names_from_outside(text):
            if used in self._seen:
                continue
            if used in self._namespace and used not in OF_NOTEBOOKS:
                self.take(used, self._namespace[used], name)
            else:
                self._seen.add(used)
                self._refuse_missing(name, used)
        self._definitions.append(text)

    def _own_text(self, name: str, value: Any) -> str | None:
        """Return a definition's text, or note why it cannot stand alone."""
        function = None if isinstance(value, type) else plain_function(value)
        own = value.__name__ if function is None else function.__name__
        if function is not None and function.__closure__:
            variables = ", ".join(function.__code__.co_freevars)
            fix = f"Write {own} at the top level of a cell and give it {variables} as arguments."
            self._refuse(
                name, f"{name}, a function that uses {variables} of an enclosing function", fix
            )
        elif own == "<lambda>":
            fix = f"Write it as a function: def {name}(...): ..."
            self._refuse(name, f"{name}, a lambda", fix)
        elif own != name:
            fix = f"Call it {own}, as in its definition."
            self._refuse(name, f"{name}, another name for {own}", fix)
        else:
            text = definition_of(value, self._namespace)
            if text is None:
                fix = "Write it in a cell of this notebook, or in a file that can be imported."
                if function is not None and function.__code__.co_filename.startswith(TIMED):
                    fix = "Remove %%time from its cell and run the cell again."
                self._refuse(name, f"{name}, whose source text cannot be found", fix)
            return text
        return None

    def _assign(self, name: str, statement: str, user: str) -> None:
        if len(statement) > MAX_CHARACTERS:
            got = f"{name}, a value of {len(statement):,} characters"
            self._refuse(name, got, f"Save it to a file, and read the file inside {user}.")
            return
        if "pathlib." in statement:
            self._imports["import pathlib"] = None
        self._constants.append(statement)

    def _assign_array(self, name: str, value: Any, user: str) -> None:
        module = "np" if self._namespace.get("np") in (None, sys.modules["numpy"]) else "numpy"
        self._imports["import numpy as np" if module == "np" else "import numpy"] = None
        self._assign(name, array_assignment(name, value, module), user)

    def _refuse_missing(self, user: str, name: str) -> None:
        if name in OF_NOTEBOOKS or name in vars(builtins):
            fix = f"Remove it from {user}: a script runs outside the notebook."
            self._refuse(name, f"{name}, which exists only in a notebook", fix)
        else:
            fix = f"Run the cell that defines it, or create it inside {user}."
            self._refuse(name, f"{name}, which {user} uses but which is not defined", fix)

    def _refuse(self, name: str, got: str, fix: str) -> None:
        whole = got if name == self._function else f"{self._function} with {got}"
        self.problems.append(Problem(self._field, RULE, whole, fix))


def _kind(value: Any) -> str:
    if isinstance(value, io.IOBase):
        return "an open file"
    if isinstance(value, ModuleType):
        return "a module that was not imported by name"
    return f"an object of the notebook ({_type_name(value)})"


def _instead(value: Any, user: str) -> str:
    if isinstance(value, io.IOBase):
        return f"Open it inside {user}."
    if _type_name(value) == "numpy.ndarray" and value.size <= FEW_NUMBERS:
        return f"Write its {value.size} numbers as a list, and create the array inside {user}."
    if _type_name(value) in ("numpy.ndarray", "pandas.DataFrame", "pandas.Series"):
        return f"Save it to a file, and read the file inside {user}."
    return f"Create it inside {user}."


def _type_name(value: Any) -> str:
    kind = type(value)
    home = kind.__module__.split(".")[0]
    return kind.__qualname__ if home == "builtins" else f"{home}.{kind.__qualname__}"
