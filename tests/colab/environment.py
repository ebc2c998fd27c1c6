"""An environment with the versions that Colab's CPU runtime has, on the Python of the tests."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from tests.colab.lists import versions

NEEDED = ("tensorflow", "tf_keras", "ipykernel")
"""What a run needs beside what the wheel asks for."""
TESTS = ("pytest>=9", "pytest-timeout", "ruff")


def make(folder: Path, wheel_needs: list[str]) -> Path:
    """Make it in a folder, or find it there made of the same; return its interpreter.

    Raises:
        RuntimeError: it cannot be installed; with what uv said.
    """
    python = folder / "bin" / "python"
    pins = "\n".join(f"{name}=={version}" for name, version in versions("cpu").items())
    wanted = hashlib.sha256("\n".join([sys.version, pins, *NEEDED, *TESTS]).encode()).hexdigest()
    note = folder / "made-of.txt"
    if note.exists() and note.read_text() == wanted:
        return python
    uv = [sys.executable, "-m", "uv"]
    _run([*uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)])
    constraints = folder / "constraints.txt"
    constraints.write_text("\n".join(line for line in pins.split("\n") if "pytest" not in line))
    install = [*uv, "pip", "install", "--quiet", "--python", str(python), "-c", str(constraints)]
    _run([*install, *wheel_needs, *NEEDED, *TESTS])
    note.write_text(wanted)
    return python


def _run(command: list[str]) -> None:
    done = subprocess.run(command, env=os.environ, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command}\n{done.stdout}\n{done.stderr}")
