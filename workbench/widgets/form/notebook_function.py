"""A function that was given to the workbench in a cell, as it is in the notebook now."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench.capture import home_of
from workbench.capture.address import address_of


class NotebookFunction:
    """A function by its name: after its cell ran again it is the new one.

    Raises:
        ConfigError: it is no function that can be written down.
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
        """Return `file.py:function` of its newest text with all that it uses.

        A function that was imported stays where it is: `module:function`.

        Raises:
            ConfigError: with everything that cannot be taken along.
            RunError: the folder of runs cannot be written.
        """
        address = self._home.address or address_of(self._home.now(), self._field, self._runs_dir)
        self._kept.add(address)
        return address

    def kept(self, address: str | None) -> bool:
        """Whether an address is one that this function had."""
        return address in self._kept
