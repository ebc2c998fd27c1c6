"""The place in the user's own code at which an error was raised, from a traceback.

The supervisor imports this module, so it uses only the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.runs.folder.files import SCRIPT

if TYPE_CHECKING:
    from workbench.plan import Plan

PACKAGE = str(Path(__file__).parents[2])
_FRAME = re.compile(
    r'^\s+File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>\S+).*\n\s+(?P<code>\S.*)$',
    re.MULTILINE,
)
_OF_PACKAGES = re.compile(r"[/\\](?:site-packages|dist-packages|lib[/\\]python3[^/\\]*)[/\\]|^<")
MOST_CHARACTERS = 100


def own_texts(plan: Plan) -> dict[str, str]:
    """Return the text of each file of the user that the script of a plan holds."""
    return {
        str(getattr(plan.config, field)).rpartition(":")[0]: own.source
        for field, own in plan.own_functions.items()
        if own.source and not own.module
    }


def line_in_user_code(traceback: str, texts: Mapping[str, str]) -> str:
    """Return the last frame of a traceback in the user's own code; empty if there is none.

    `texts` are the user's files whose text a script holds; a frame of the script is found in them
    by its code. The frames of the script's other functions, of this package and of installed
    packages are left out.
    """
    for frame in reversed(list(_FRAME.finditer(traceback))):
        file, function, code = frame["file"], frame["function"], frame["code"]
        found = [(path, at) for path, text in texts.items() if (at := _line(text, function, code))]
        if not found and _is_own(file):
            found = [(file, int(frame["line"]))]
        if found:
            path, line = found[0]
            where = "" if function == "<module>" else f", in {function}"
            return f"{path}, line {line}{where}: {code[:MOST_CHARACTERS]}"
    return ""


def _line(text: str, function: str, code: str) -> int | None:
    """Return the number of the line with this code in this function of a text, from 1."""
    lines = [line.strip() for line in text.splitlines()]
    begun = function == "<module>"
    for at, line in enumerate(lines, start=1):
        begun = begun or line.startswith(f"def {function}(")
        if begun and line == code:
            return at
    return None


def _is_own(file: str) -> bool:
    return not (_OF_PACKAGES.search(file) or file.startswith(PACKAGE) or Path(file).name == SCRIPT)
