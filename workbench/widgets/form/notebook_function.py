"""A function that a cell gave to the workbench, in its newest version of the notebook."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench.capture import home_of
from workbench.capture.address import address_of


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
