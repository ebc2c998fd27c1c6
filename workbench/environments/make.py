"""The making of an environment for runs, or the reuse of an existing one."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from workbench.devices import DeviceError
from workbench.devices.child import located
from workbench.environments import check, explain, folders, tool
from workbench.environments.builds import Build
from workbench.environments.errors import MakingError
from workbench.environments.progress import Progress, ProgressReport
from workbench.environments.survey import Survey, survey_of
from workbench.environments.ways import FOLDER, PYTHON, Way, ways_of

STEPS = 4
_NOT_FOR_TOOLS = ("PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT",
                  "PIP_CONSTRAINT", "UV_CONSTRAINT", "VIRTUAL_ENV")  # fmt: skip
"""Variables that make an installer use other folders or obey limits of the kernel's packages."""


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
    survey = _survey(interpreter or sys.executable)
    build.check(survey)
    folder = (root or folders.environments_dir()) / build.folder_name(survey)
    python = folder / "bin" / "python"
    with folders.locked(folder, report) as lock_fd:
        reused = check.found_in(python, build, os.environ)
        notes: tuple[str, ...] = ()
        if not reused:
            folders.check_space(folder.parent, build.needed_bytes)
            try:
                notes = _make(build, survey, folder, report, lock_fd)
            except OSError as error:
                raise folders.unwritable(folder.parent, error) from error
    return Made(str(python), reused, report.elapsed_seconds, notes)


def _make(
    build: Build, survey: Survey, folder: Path, report: ProgressReport, lock_fd: int
) -> tuple[str, ...]:
    ways = ways_of(survey)
    with folders.making(folder) as work:
        made, temporary = work / "environment", work / "temporary"
        temporary.mkdir()
        environment = _for_tools(temporary)
        report.begin("making the environment")
        way = _create(build, ways, made, environment, report, lock_fd)
        report.begin(f"installing {' and '.join(build.requirements)}")
        python = made / "bin" / "python"
        command = [part.replace(PYTHON, str(python)) for part in way.install]
        ended = tool.run([*command, *build.requirements], environment, report, lock_fd)
        if ended.status:
            raise explain.failed(build, ended)
        report.begin("importing TensorFlow in the environment")
        notes = report.during(lambda: check.import_in(python, build, os.environ))
        report.tick()
        folders.settle(made, folder, work / "earlier")
    return notes


def _create(
    build: Build,
    ways: list[Way],
    made: Path,
    environment: Mapping[str, str],
    report: ProgressReport,
    lock_fd: int,
) -> Way:
    """Make it by the first way that works, because a Python can lack parts that it seems to have.

    Return this way.
    """
    for way in ways:
        shutil.rmtree(made, ignore_errors=True)
        command = [part.replace(FOLDER, str(made)) for part in way.create]
        ended = tool.run(command, environment, report, lock_fd)
        if ended.status == 0:
            return way
    raise explain.failed(build, ended)


def _for_tools(temporary: Path) -> dict[str, str]:
    """Return the environment variables for installers: all files on one disk, none elsewhere."""
    kept = {name: value for name, value in os.environ.items() if name not in _NOT_FOR_TOOLS}
    return {**kept, "PIP_USER": "0", "TMPDIR": str(temporary), "PYTHONUNBUFFERED": "1"}


def _survey(interpreter: str) -> Survey:
    try:
        return survey_of(located(interpreter, os.environ), os.environ)
    except DeviceError as error:
        raise MakingError(error.rule, error.got, error.fix) from error
    except (OSError, ValueError) as error:
        raise MakingError(
            "An environment needs a Python on this machine",
            f"{interpreter} ({error})",
            "Choose a Python of 3.11 to 3.13, such as the one that `which python` prints.",
        ) from error
