"""Texts of the user's own functions that are not in a file yet, kept next to the runs."""

from __future__ import annotations

from pathlib import Path

from workbench.plan.own_function import kept_name

from .folder.files import unwritable, write_text

FOLDER = "functions"


def keep_function(source: str, function: str, root: Path) -> str:
    """Write a text into the folder of runs and return `file.py:function`.

    The same text is written only once, because the file's name depends on its content.

    Raises:
        RunError: the folder cannot be written.
    """
    path = root / FOLDER / f"{kept_name(function, source)}.py"
    if not path.exists():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(path, error) from error
        write_text(path, source)
    return f"{path}:{function}"
