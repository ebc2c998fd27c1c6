"""The making of an environment for runs, or the reuse of an existing one."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from workbench.devices import DeviceError
from workbench.devices.child import Report, ask
from workbench.environments import check, folders
from workbench.environments.builds import Build
from workbench.environments.errors import MakingError
from workbench.environments.progress import Progress, ProgressReport
from workbench.environments.uv import Uv

STEPS = 4


@dataclass(frozen=True)
class Made:
    """An environment for runs."""

    interpreter: str
    reused: bool
    """Whether it already existed, so that nothing was made."""
    elapsed_seconds: float
    notes: tuple[str, ...] = ()
    """The reasons why runs cannot use it immediately, a sentence for each."""


def make_environment(
    build: Build,
    interpreter: str | None = None,
    root: Path | None = None,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Made:
    """Make an environment next to the interpreter's own packages, which do not change.

    The environment gets its final name only after TensorFlow was imported in it. Two callers that
    make the same environment simultaneously make it only once. `on_progress` and `stopped` are
    called often, in the calling thread.

    Args:
        build: the build to install.
        interpreter: the Python used to make it; None means the Python of this process.
        root: the folder of environments; None means the default folder.
        on_progress: receives the progress.
        stopped: returns whether to cancel.

    Raises:
        MakingError: it cannot be made; the error has the rule, the value received, and the fix.
        CancelledError: `stopped` returned true; no part of the environment remains.
    """
    report = ProgressReport(STEPS, on_progress, stopped)
    report.begin("checking the interpreter and the disk")
    found = _asked(interpreter or sys.executable)
    build.check(found.python_version)
    home = (root or folders.environments_dir()).absolute()
    folder = home / build.folder_name(found.python_version)
    python = folder / "bin" / "python"
    with folders.locked(folder, report) as lock_fd:
        reused = check.found_in(python, build, os.environ)
        notes: tuple[str, ...] = ()
        if not reused:
            folders.check_space(folder.parent, build.needed_bytes)
            try:
                notes = _make(build, found.interpreter, folder, report, lock_fd)
            except OSError as error:
                raise folders.unwritable(folder.parent, error) from error
    return Made(str(python), reused, report.elapsed_seconds, notes)


def _make(
    build: Build, interpreter: str, folder: Path, report: ProgressReport, lock_fd: int
) -> tuple[str, ...]:
    with folders.making(folder) as work:
        made, temporary = work / "environment", work / "temporary"
        temporary.mkdir()
        report.begin("making the environment")
        uv = Uv(temporary, report, lock_fd)
        uv.run("venv", "--relocatable", "--no-project", "--python", interpreter, str(made))
        report.begin(f"installing {' and '.join(build.requirements)}")
        python = made / "bin" / "python"
        # Without bytecode, the first run would start later. With pip, people can add packages, but
        # where no index may be asked, there may be no wheel of it.
        options = ("--compile-bytecode", "--python", str(python))
        more = "--no-index" if os.environ.get("PIP_NO_INDEX") else "pip"
        uv.run("pip", "install", *options, *build.requirements, more)
        report.begin("importing TensorFlow in the environment")
        notes = report.during(lambda: check.import_in(python, build, os.environ))
        report.tick()
        folders.settle(made, folder, work / "earlier")
    return notes


def _asked(interpreter: str) -> Report:
    try:
        return ask(interpreter, "metadata", check.CHECK_TIMEOUT_SECONDS, os.environ)
    except DeviceError as error:
        raise MakingError(error.rule, error.got, error.fix) from error
