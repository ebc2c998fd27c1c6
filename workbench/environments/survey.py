"""The tools that an interpreter has for making environments.

This file is also the script that reports them. The script needs only the standard library of
Python 3.8 or later.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TIMEOUT_SECONDS = 30


@dataclass(frozen=True)
class Survey:
    """An interpreter, and the tools that it can use."""

    interpreter: str
    python_version: str
    system: str
    machine: str
    venv: bool
    ensurepip: bool
    pip: str | None
    """The version of pip; None if it has no pip."""
    uv: tuple[str, ...]
    """The command that runs uv; empty if there is no uv."""
    virtualenv: bool

    @property
    def python(self) -> tuple[int, int]:
        """The major and minor version."""
        major, minor = self.python_version.split(".")[:2]
        return int(major), int(minor)

    @property
    def python_minor(self) -> str:
        """Such as `3.13`."""
        return ".".join(map(str, self.python))


def survey_of(interpreter: str, environment: Mapping[str, str]) -> Survey:
    """Return the survey of an interpreter, made by a short-lived child.

    Raises:
        OSError: the interpreter cannot be run.
        ValueError: the interpreter gave no answer.
    """
    try:
        asked = subprocess.run(
            [interpreter, __file__],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
        values = json.loads(asked.stdout.splitlines()[-1])
    except (IndexError, json.JSONDecodeError, subprocess.TimeoutExpired) as error:
        raise ValueError(f"{interpreter} gave no answer") from error
    return Survey(**{**values, "interpreter": interpreter, "uv": tuple(values["uv"])})


def survey_here() -> dict[str, Any]:
    """Return the survey of the interpreter that runs this script, as JSON values."""
    uv = shutil.which("uv")
    return {
        "python_version": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "venv": _has("venv"),
        "ensurepip": _has("ensurepip"),
        "pip": _version("pip"),
        "uv": [sys.executable, "-m", "uv"] if _has("uv") else [uv] if uv else [],
        "virtualenv": _has("virtualenv"),
    }


def _has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


if __name__ == "__main__":
    here = Path(__file__).resolve().parent
    sys.path[:] = [entry for entry in sys.path if Path(entry or os.curdir).resolve() != here]
    sys.stdout.write(json.dumps(survey_here()) + "\n")
