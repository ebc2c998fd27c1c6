"""Environments with versions of their own, on the Python of the tests; made once, then found."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path


def make(folder: Path, constraints: str, packages: Iterable[str]) -> Path:
    """Make it in a folder, or find it there made of the same; return its interpreter.

    Raises:
        RuntimeError: it cannot be installed; with what uv said.
    """
    python = folder / "bin" / "python"
    made_of = "\n".join([sys.version, constraints, *packages])
    wanted = hashlib.sha256(made_of.encode()).hexdigest()
    note = folder / "made-of.txt"
    if note.exists() and note.read_text() == wanted:
        return python
    uv("venv", "--quiet", "--clear", "--python", sys.executable, str(folder))
    limits = folder / "constraints.txt"
    limits.write_text(constraints)
    options = ("--quiet", "--compile-bytecode", "--python", str(python), "-c", str(limits))
    uv("pip", "install", *options, *packages)
    note.write_text(wanted)
    return python


def put_in(python: Path, wheel: Path) -> None:
    """Install a wheel in place of an earlier one, with nothing that it needs."""
    options = ("--quiet", "--no-deps", "--force-reinstall", "--no-cache")
    uv("pip", "install", *options, "--python", str(python), str(wheel))


def uv(*arguments: str, path: str | None = None) -> None:
    """Run uv, with another PATH if given.

    Raises:
        RuntimeError: it failed; with what it said.
    """
    command = [sys.executable, "-m", "uv", *arguments]
    environment = {**os.environ, "PATH": path or os.environ["PATH"]}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command}\n{done.stdout}\n{done.stderr}")
