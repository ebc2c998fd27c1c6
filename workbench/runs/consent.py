"""The code of a foreign run: a person must see it and agree to it before a click executes it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from workbench.fields import LOCAL
from workbench.plan.own_function import SCRIPT_NAMES, module_file
from workbench.runs.folder.files import REHEARSAL_FOLDER, SCRIPT, RunError, sha256
from workbench.runs.folder.plan import read_plan
from workbench.runs.folder.trust import digest_of, is_trusted, kept_files, modules_beside
from workbench.runs.processes.environment import Launch
from workbench.runs.resume import script_of_resume

if TYPE_CHECKING:
    from workbench.config import RunConfig

_PROGRAMS = ("interpreter", "container", "job_setup")
"""The fields that are a program, an image of programs, or lines of shell."""


@dataclass(frozen=True)
class ForeignCode:
    """The code that a click executes of a run that this machine did not start as it is."""

    executes: ClassVar[str] = f"the run's {SCRIPT}"

    run_id: str
    interpreter: str
    working_dir: str
    """The folder in which the script runs; it can import modules from there."""
    script: str
    """The text that would run: with more epochs, it is not yet in the run's folder."""
    digest: str
    """The sha256 of all of this, and of the files from which a resume makes it."""

    def __str__(self) -> str:
        return (
            f"This executes {self.executes} with all your permissions. This machine has not run "
            f"{self.run_id} before, or the run has changed since. It would run "
            f"{self.interpreter} in {self.working_dir}, with modules from there (sha256 "
            f"{self.digest}). Read the script, and continue only if you trust it."
        )


def foreign_code(run_dir: Path, epochs: int | None = None, agreed: str = "") -> ForeignCode | None:
    """Return the code that a person must agree to before it is executed; None if there is no need.

    A resume executes it, and so do the programs that examine the run.

    There is no need if this machine started the run in its present form, or if `agreed` is the
    digest of this code.

    Raises:
        PlanError: the config cannot be planned with this number of epochs.
        RunError: the number of epochs is not possible, the run cannot be read, or the script is not
            all that a resume of this run executes.
    """
    if is_trusted(run_dir):
        return None
    _refuse_more_than_a_script(run_dir)
    digest = digest_of(run_dir)
    script = "\n\n".join([script_of_resume(run_dir, epochs), *_own_code(run_dir)])
    launch = Launch.of(run_dir)
    bound = sha256(f"{digest} {launch.interpreter} {sha256(script)}")
    code = ForeignCode(run_dir.name, launch.interpreter, str(launch.working_dir), script, bound)
    return None if agreed == bound else code


def _own_code(run_dir: Path) -> Iterator[str]:
    """Yield the text of each file of a person that the script imports from the run's folder.

    Raises:
        RunError: a file is no text that a person can read.
    """
    for path in kept_files(run_dir):
        try:
            yield f"# {path.relative_to(run_dir)}\n{path.read_text(encoding='utf-8')}"
        except (OSError, UnicodeDecodeError) as error:
            raise RunError(f"{path} cannot be read as text: {error}. Remove the run.") from error


def _refuse_more_than_a_script(run_dir: Path) -> None:
    """Refuse a run of which more than its script is executed.

    Raises:
        RunError: a job has an environment of its own, a rehearsal has a script of its own, or there
            are modules beside the script.
    """
    launcher = read_plan(run_dir).config.launcher
    more = [str(path.relative_to(run_dir)) for path in modules_beside(run_dir / SCRIPT)]
    if (run_dir / REHEARSAL_FOLDER).exists():
        more.append(f"the script in {REHEARSAL_FOLDER}")
    if launcher != LOCAL:
        more.append(f"a job of {launcher}")
    if not more:
        return
    raise RunError(
        f"{run_dir.name} comes from elsewhere and executes more than its script: "
        f"{', '.join(more)}. Read the files in {run_dir}; if you trust them, resume the run in a "
        f"terminal: workbench runs resume {shlex.quote(str(run_dir))}"
    )


class ForeignSettings(ForeignCode):
    """The code that the settings of a run name; `script` has all of it."""

    executes = "the code that the run's settings name"


def foreign_settings(run_dir: Path, *, agreed: str = "") -> ForeignSettings | None:
    """Return the code that a person must agree to before a form shows the settings of a run.

    A form asks the interpreter for its devices and inspects the user's own data at once; Train
    executes the rest.

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
