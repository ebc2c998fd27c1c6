"""A notebook's cells in a real IPython."""

import atexit
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from textwrap import dedent
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config


class Notebook:
    """Runs cells as a kernel does."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell

    def run(self, *cells: str) -> None:
        """Run each cell; the exception of a cell is raised here."""
        for cell in cells:
            self._shell.run_cell(dedent(cell).strip(), store_history=True).raise_error()

    def __getitem__(self, name: str) -> Any:
        return self._shell.user_ns[name]


@contextmanager
def opened() -> Iterator[Notebook]:
    """Open an empty notebook; the changes of IPython to this process are undone at the end."""
    main, hooks = sys.modules["__main__"], (sys.displayhook, sys.excepthook)
    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell(config=config)
    try:
        yield Notebook(shell)
    finally:
        atexit.unregister(shell.atexit_operations)  # each would collect garbage
        sys.modules["__main__"] = main
        sys.displayhook, sys.excepthook = hooks
