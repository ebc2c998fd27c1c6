"""The code that the settings of a foreign run name: a form that shows them executes it.

A form asks the interpreter for its devices and inspects the user's own data at once; Train executes
the rest.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.plan.own_function import SCRIPT_NAMES, module_file
from workbench.runs.folder.files import sha256
from workbench.runs.folder.plan import read_plan
from workbench.runs.folder.trust import is_trusted

from .consent import ForeignCode

if TYPE_CHECKING:
    from workbench.config import RunConfig

_PROGRAMS = ("interpreter", "container", "job_setup")
"""The fields that are a program, an image of programs, or lines of shell."""


class ForeignSettings(ForeignCode):
    """The code that the settings of a run name; `script` has all of it."""

    executes = "the code that the run's settings name"


def foreign_settings(run_dir: Path, *, agreed: str = "") -> ForeignSettings | None:
    """Return the code that a person must agree to before a form shows the settings of a run.

    There is no need if the settings name no code, if this machine started the run in its present
    form, or if `agreed` is the digest of this code.

    Raises:
        RunError: the run cannot be read.
    """
    if is_trusted(run_dir):
        return None
    config = read_plan(run_dir).config
    code = "\n\n".join(_code_of(config))
    interpreter, here = config.interpreter or sys.executable, str(Path.cwd())
    digest = sha256(f"{interpreter} {here} {code}")
    if not code or agreed == digest:
        return None
    return ForeignSettings(run_dir.name, interpreter, here, code, digest)


def _code_of(config: RunConfig) -> Iterator[str]:
    """Yield the code that each field names, under the field's name and value."""
    for field in _PROGRAMS:
        value = getattr(config, field)
        if value and value != sys.executable:
            yield f"# {field}: {value}"
    for field in SCRIPT_NAMES:
        address = getattr(config, field) or ""
        if ":" in address:
            yield f"# {field}: {address}\n{_text_of(address)}"


def _text_of(address: str) -> str:
    """Return the text of the file of `module:function` or `file.py:function`."""
    where, _, _ = address.rpartition(":")
    try:
        path = Path(where).expanduser() if where.endswith(".py") else module_file(where)
        return "# An installed module." if path is None else path.read_text(errors="replace")
    except (OSError, ValueError, RuntimeError) as error:
        return f"# It cannot be read: {error}"
