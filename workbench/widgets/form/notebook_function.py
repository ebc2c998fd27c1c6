"""Functions of the notebook, given to the workbench or typed by name, in their newest version."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench.capture import home_of
from workbench.capture.address import address_of
from workbench.capture.sources import plain_function

from .fields import UnreadableError


class NotebookFunction:
    """A function of the notebook, found by its name. After its cell ran again, the new one is used.

    Raises:
        ConfigError: the function cannot be written down as text.
        RunError: the folder of runs, where its text is kept, cannot be written.
    """

    def __init__(
        self, function: Callable[..., Any], field: str, runs_dir: str | Path | None
    ) -> None:
        self._field = field
        self._runs_dir = runs_dir
        self._kept: set[str] = set()
        self._home = home_of(function, field)
        self.name = self._home.name
        self.address()

    def address(self) -> str:
        """Return the address `file.py:function` of its newest text with everything that it uses.

        An imported function keeps its address, `module:function`.

        Raises:
            ConfigError: something that it uses cannot be copied; the error names all such things.
            RunError: the folder of runs cannot be written.
        """
        address = self._home.address or address_of(self._home.now(), self._field, self._runs_dir)
        self._kept.add(address)
        return address

    def kept(self, address: str | None) -> bool:
        """Return whether this function has, or once had, this address."""
        return address in self._kept


class TypedFunctions:
    """The functions of the notebook whose names are typed into a field."""

    def __init__(self, field: str, runs_dir: str | Path | None) -> None:
        self._field, self._runs_dir = field, runs_dir
        self._found: dict[str, NotebookFunction] = {}

    def named(self, name: str) -> NotebookFunction:
        """Return the function that has this name in the notebook.

        Raises:
            UnreadableError: the notebook has no such function.
            ConfigError, RunError: as `NotebookFunction`.
        """
        namespace = vars(sys.modules["__main__"])
        if plain_function(namespace.get(name)) is None:
            own = [each for each, value in namespace.items() if _is_written_here(each, value)]
            choice = f"Type one of {', '.join(sorted(own))}" if own else "Type module:function"
            raise UnreadableError(
                "a function of the notebook, module:function or file.py:function",
                f"{name}, which is not a function of the notebook",
                f"{choice}, or run the cell that defines {name}.",
            )
        if name not in self._found:
            self._found[name] = NotebookFunction(namespace[name], self._field, self._runs_dir)
        return self._found[name]

    def name_of(self, address: str | None) -> str | None:
        """Return the typed name whose function has, or once had, this address."""
        return next((name for name, each in self._found.items() if each.kept(address)), None)


def _is_written_here(name: str, value: Any) -> bool:
    """Return whether a cell of the notebook defines this function; IPython's names do not count."""
    function = plain_function(value)
    return not name.startswith("_") and function is not None and function.__module__ == "__main__"
