"""The ways by which an interpreter can make an environment, the simplest first.

On Debian, and on hosts built from it, `venv` lacks `ensurepip`. There the interpreter's own pip
installs into the new environment, or uv or virtualenv makes the environment.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from workbench.environments.errors import MakingError
from workbench.environments.survey import Survey

FOLDER = "{folder}"
PYTHON = "{python}"
_PIP = ("install", "--no-cache-dir", "--disable-pip-version-check", "--progress-bar", "off")
# Unlike pip, uv does not compile to bytecode by default. The first run would have to compile and
# would start later, so uv must compile here.
_UV = (*("pip", "install", "--no-cache", "--no-progress", "--compile-bytecode"), "--python", PYTHON)
_PIP_FOR_OTHERS = (22, 3)
"""The first version of pip that installs for another interpreter."""


@dataclass(frozen=True)
class Way:
    """Commands with placeholders for the new folder and its interpreter."""

    name: str
    create: tuple[str, ...]
    install: tuple[str, ...]


def ways_of(survey: Survey) -> list[Way]:
    """Return the ways that this interpreter has.

    Raises:
        MakingError: the interpreter has no way.
    """
    python, ways = survey.interpreter, []
    venv = (python, "-m", "venv")
    if survey.venv and survey.ensurepip:
        ways.append(Way("venv", (*venv, FOLDER), (PYTHON, "-m", "pip", *_PIP)))
    if survey.venv and _installs_for_others(survey.pip):
        pip = (python, "-m", "pip", "--python", PYTHON, *_PIP)
        ways.append(Way("venv and pip", (*venv, "--without-pip", FOLDER), pip))
    if survey.uv:
        create = (*survey.uv, "venv", "--python", python, FOLDER)
        ways.append(Way("uv", create, (*survey.uv, *_UV)))
    if survey.virtualenv:
        create = (python, "-m", "virtualenv", FOLDER)
        ways.append(Way("virtualenv", create, (PYTHON, "-m", "pip", *_PIP)))
    if not ways:
        raise _no_way(survey)
    return ways


def _installs_for_others(pip: str | None) -> bool:
    numbers = tuple(int(part) for part in re.findall(r"\d+", pip or "")[:2])
    return numbers >= _PIP_FOR_OTHERS


def _no_way(survey: Survey) -> MakingError:
    lacks = "no venv" if not survey.venv else "venv without ensurepip"
    pip = f"pip {survey.pip}, which is older than 22.3" if survey.pip else "no pip"
    return MakingError(
        "A Python needs venv and pip, uv or virtualenv to make an environment",
        f"{survey.interpreter}, which has {lacks}, {pip}, and neither uv nor virtualenv",
        f"On Debian or Ubuntu install python{survey.python_minor}-venv; elsewhere install uv, or "
        "choose another interpreter.",
    )
