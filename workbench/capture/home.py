"""The home of a function: the notebook, or an imported module."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..config import ConfigError, Problem
from .sources import plain_function


@dataclass(frozen=True)
class Home:
    """A function's name, and the namespace in which the name is looked up."""

    name: str
    namespace: Mapping[str, Any]
    address: str | None
    """`module:function` for a function of a module; None for a function of the notebook."""
    _first: Callable[..., Any]

    def now(self) -> Callable[..., Any]:
        """Return the function that has the name now, because a cell may have run again."""
        found = self.namespace.get(self.name)
        return found if callable(found) else self._first


def home_of(function: Callable[..., Any], field: str = "model") -> Home:
    """Find the home of a function.

    Raises:
        ConfigError: the value is not a function that was written with `def`.
    """
    plain = plain_function(function)
    if plain is None or plain.__name__ == "<lambda>":
        got = "a lambda" if plain else f"{type(function).__name__} {function!r:.60}"
        fix = "Write it as a function: def name(): ..."
        raise ConfigError([Problem(field, "a function of the notebook", got, fix)])
    module = sys.modules.get(plain.__module__)
    imported = plain.__module__ != "__main__" and (
        getattr(module, plain.__qualname__, None) is function
    )
    address = f"{plain.__module__}:{plain.__qualname__}" if imported else None
    return Home(plain.__name__, plain.__globals__, address, function)
